/* Stands in for the C library when probe-libc is linked, so that it binds to no version of it. Never loaded.
 */
void getppid(void)
{
}
void gettimeofday(void)
{
}
void clock_gettime(void)
{
}
void time(void)
{
}
void getcpu(void)
{
}
void getrandom(void)
{
}
void dup(void)
{
}
void close(void)
{
}
void getpid(void)
{
}
void getuid(void)
{
}
void umask(void)
{
}
void fork(void)
{
}
void execv(void)
{
}
void waitpid(void)
{
}
