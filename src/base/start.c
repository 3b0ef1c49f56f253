/* SPDX-License-Identifier: Apache-2.0 */
#include "base/start.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>

int process_begin(void)
{
	const struct sigaction standard = { .sa_handler = SIG_DFL };

	for (int fd = 0; fd < 3; fd++)
		if (fcntl(fd, F_GETFD) < 0 &&
		    open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY) != fd)
			return -EBADF;
	sigaction(SIGCHLD, &standard, NULL);
	umask(022);
	return 0;
}
