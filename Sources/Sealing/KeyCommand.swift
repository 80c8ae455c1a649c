import CCrypto
import Glibc

/// A command that prints the key in base64, for example the client of a secret store.
///
/// The command is split at blanks, and its first word is looked up in PATH. No shell reads it: quotes, variables and pipes
/// have no meaning. Its standard error is that of fetchd.
struct KeyCommand {
    private let words: [String]
    private let limit: Duration

    init(_ command: String, limit: Duration = .seconds(30)) {
        words = command.split(separator: " ").map(String.init)
        self.limit = limit
    }

    /// - Throws: `KeyError` if the command cannot be started, fails, takes too long, or prints something else.
    func run() throws(KeyError) -> SealingKey {
        guard let program = words.first else { throw KeyError("--key-command names no program.") }
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { throw Self.fault(program, errno) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        let (reading, writing) = (ends[0], ends[1])
        defer { close(reading) }
        var child = pid_t()
        let code = spawn(program, writingTo: writing, &child)
        close(writing)
        guard code == 0 else { throw Self.fault(program, code) }
        let deadline = ContinuousClock.now + limit
        var text = [UInt8](repeating: 0, count: KeyFile.longest + 1)
        defer { OPENSSL_cleanse(&text, text.count) }
        let count = Self.read(reading, into: &text, until: deadline)
        guard let status = Self.end(of: child, until: deadline) else {
            throw KeyError("The key command \(program) did not end within \(limit.components.seconds) s.")
        }
        guard status == 0 else {
            throw KeyError("The key command \(program) has failed. Its error output has the cause.")
        }
        guard let keys = KeyFile.keys(in: text[..<count]), keys.count == 1 else {
            throw KeyError("The key command \(program) must print a key: 32 bytes in base64, on one line.")
        }
        return keys[0]
    }

    private static func fault(_ program: String, _ code: Int32) -> KeyError {
        KeyError("The key command \(program) cannot be started: \(String(cString: strerror(code))).")
    }

    /// - Returns: 0 or an `errno`.
    private func spawn(_ program: String, writingTo output: Int32, _ child: inout pid_t) -> Int32 {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
        // The threads of the store block signals.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        var arguments = words.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        return posix_spawnp(&child, program, &actions, &attributes, &arguments, environ)
    }

    /// Reads until the end of the output, until the text is full, or until the deadline.
    private static func read(
        _ descriptor: Int32, into text: inout [UInt8], until deadline: ContinuousClock.Instant
    ) -> Int {
        var count = 0
        while count < text.count, isReadable(descriptor, until: deadline) {
            let (start, room) = (count, text.count - count)
            let read = text.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress.map { $0 + start }, room) }
            if read > 0 { count += read } else if read == 0 || errno != EINTR { break }
        }
        return count
    }

    private static func isReadable(_ descriptor: Int32, until deadline: ContinuousClock.Instant) -> Bool {
        while deadline > .now {
            var watched = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            if poll(&watched, 1, 100) > 0 { return true }
        }
        return false
    }

    /// Waits for the end of the command, and kills it after the deadline.
    ///
    /// - Returns: the wait status; nil if the command was killed here.
    private static func end(of child: pid_t, until deadline: ContinuousClock.Instant) -> Int32? {
        var status: Int32 = 0
        while deadline > .now {
            switch waitpid(child, &status, WNOHANG) {
            case child: return status
            case 0: usleep(10_000)
            default: if errno != EINTR { return -1 }
            }
        }
        kill(child, SIGKILL)
        while waitpid(child, &status, 0) < 0, errno == EINTR {}
        return nil
    }
}
