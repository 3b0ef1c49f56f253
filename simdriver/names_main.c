/* SPDX-License-Identifier: Apache-2.0 */
#include "names.h"

int main(int argc, char **argv)
{
	return names_run(argc, argv);
}
