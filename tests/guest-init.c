/* The first process of a test guest: mounts what the command reads, runs it with our arguments, says how it ended. */
#include <stdio.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int status = 0;

	(void)argc;
	mkdir("/proc", 0755);
	mkdir("/sys", 0755);
	mkdir("/dev", 0755);
	mount("proc", "/proc", "proc", 0, 0);
	mount("sysfs", "/sys", "sysfs", 0, 0);
	mount("dev", "/dev", "devtmpfs", 0, 0);
	if (fork() == 0) {
		argv[0] = "kentry";
		close(2); /* the terminal of the command's progress is this console */
		execv("/kentry", argv);
		_exit(127);
	}
	wait(&status);
	printf("kentry ended with %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
	fflush(stdout);
	reboot(RB_POWER_OFF);
	return 1;
}
