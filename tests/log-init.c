/*
 * The first process of a guest whose instructions are logged: reads a command line from the console, runs it without output, says how
 * it ended, and reads the next.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void)
{
	static char line[512];

	printf("ready\n");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		char *words[32] = {strtok(line, " \r\n")};
		int status = 0;

		for (int i = 0; i < 30 && words[i]; i++)
			words[i + 1] = strtok(0, " \r\n");
		if (!words[0])
			continue;
		if (fork() == 0) {
			int nowhere = open("/out", O_RDWR | O_CREAT | O_TRUNC, 0600);

			dup2(nowhere, 1);
			dup2(nowhere, 2);
			execv(words[0], words);
			_exit(127);
		}
		wait(&status);
		printf("ended %d\n", status);
		fflush(stdout);
	}
	return 1;
}
