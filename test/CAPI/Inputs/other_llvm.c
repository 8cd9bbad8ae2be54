/* Stands for a library that contains an LLVM of its own and exports it, without
 * versions of symbols, as torch's Triton does. Its functions only count. */

static int registered, destroyed;

/* llvm::cl::Option::addArgument(), which each option calls when LLVM is loaded.
 */
void _ZN4llvm2cl6Option11addArgumentEv(void *option) {
  (void)option;
  ++registered;
}

/* mlir::MLIRContext::~MLIRContext(), which each compilation calls. */
void _ZN4mlir11MLIRContextD1Ev(void *context) {
  (void)context;
  ++destroyed;
}

/* Calls them as their own library does, and says how often they were called. */
int other_llvm_use(void) {
  _ZN4llvm2cl6Option11addArgumentEv(&registered);
  _ZN4mlir11MLIRContextD1Ev(&registered);
  return registered * 100 + destroyed;
}
