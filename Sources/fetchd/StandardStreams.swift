import Glibc

/// The descriptors 0, 1 and 2, which every program expects to be its standard streams.
enum StandardStreams {
    /// Opens /dev/null for reading in place of each standard stream that the parent process has closed (`>&-`). Reading from
    /// it returns the end of the file. Writing to it fails, as it would with a closed stream.
    static func open() {
        for number in STDIN_FILENO...STDERR_FILENO where fcntl(number, F_GETFD) < 0 {
            // open() returns the lowest free descriptor, which is this one.
            _ = Glibc.open("/dev/null", O_RDONLY)
        }
    }
}
