import Glibc

/// The descriptors 0, 1 and 2, which a program expects to be its standard streams.
enum StandardStreams {
    /// Takes the places of those that whoever started us has closed (`>&-`). They can be read from, and are at their end;
    /// to write to them fails, as it would have.
    static func open() {
        for number in STDIN_FILENO...STDERR_FILENO where fcntl(number, F_GETFD) < 0 {
            // The lowest number that is free is this one.
            _ = Glibc.open("/dev/null", O_RDONLY)
        }
    }
}
