/* SPDX-License-Identifier: Apache-2.0 */
/*
 * swap A B: two names of one folder change places until the end of the input: a folder and a link,
 * as an attacker who shares a volume with a container that starts has it.
 */
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };
	unsigned long count = 0;

	if (argc != 3)
		return 2;
	while (poll(&input, 1, 0) == 0) {
		if (renameat2(AT_FDCWD, argv[1], AT_FDCWD, argv[2], RENAME_EXCHANGE) < 0) {
			perror("swap");
			return 1;
		}
		count++;
	}
	printf("%lu\n", count);
	return 0;
}
