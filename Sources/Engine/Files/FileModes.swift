import Glibc

/// Derives file permissions from the umask of the process. The umask can only be read by setting it.
enum FileModes {
    /// The permissions of a finished file.
    static var published: mode_t { 0o666 & ~mask }

    static let mask: mode_t = {
        let mask = umask(0o022)
        umask(mask)
        return mask
    }()
}
