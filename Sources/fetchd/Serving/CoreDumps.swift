import Glibc

/// A core dump contains the memory of the process, and with it passwords and the key.
enum CoreDumps {
    /// Prevents core dumps of this process and of its children.
    ///
    /// The limit is one byte: Linux then neither writes a file nor starts the program that `kernel.core_pattern` names.
    /// With a limit of 0, it would start that program (core(5)).
    static func disable() {
        var limit = rlimit(rlim_cur: 1, rlim_max: 1)
        // Without permission for a hard limit of one byte, the present one is 0, and the soft limit, too.
        setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit)
    }
}
