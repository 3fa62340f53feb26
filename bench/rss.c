/* Runs a command and prints the largest resident memory that it had, in KiB: rss COMMAND [ARGUMENTS] */
#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct rusage usage;
	int status;
	const pid_t child = argc > 1 ? fork() : -1;

	if (child == 0) {
		dup2(open("/dev/null", O_WRONLY), 1);
		execv(argv[1], argv + 1);
		_exit(127);
	}
	if (child < 0 || wait4(child, &status, 0, &usage) != child || status != 0)
		return 1;
	printf("%ld\n", usage.ru_maxrss);
	return 0;
}
