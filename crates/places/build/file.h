/* In front of every file that is compiled (`compile.rs`). An assembler file says its name: without one, the linker takes that of its object
 * file, which is another one in every build. */
#ifdef __ASSEMBLER__
.file __BASE_FILE__
#endif
