import Glibc

/// The file descriptors of the tests' own process.
public enum FileDescriptors {
    /// Their largest number. Asking for it raises the limit to what the system allows.
    public static var limit: UInt64 {
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        limit.rlim_cur = limit.rlim_max
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        return UInt64(limit.rlim_cur)
    }
}
