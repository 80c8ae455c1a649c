import Glibc

/// Keeps the descriptors 0, 1 and 2 open, because every program uses them as its standard streams.
enum StandardStreams {
    /// Opens /dev/null for reading in place of each standard stream that the parent process has closed (`>&-`). A read
    /// from such a stream returns the end of the file. A write to it fails, like a write to a closed stream.
    static func open() {
        for number in STDIN_FILENO...STDERR_FILENO where fcntl(number, F_GETFD) < 0 {
            // open() returns the lowest free descriptor, which is this one.
            _ = Glibc.open("/dev/null", O_RDONLY)
        }
    }
}
