import CSpawn
import Glibc

/// A program started by `posix_spawn`.
///
/// Foundation's `Process` lists the open descriptors before it starts a program, and copies 256 bytes of each entry of
/// the list, more than the entry has. With more than about 1,350 open descriptors the last copy can end beyond the memory
/// of the list, and the tests crash (Swift 6.3.1).
public struct SpawnedProgram: Sendable {
    /// An error number of `posix_spawn`.
    struct Failure: Error, CustomStringConvertible {
        let command: [String]
        let code: Int32

        var description: String { "\(command) could not be started: \(String(cString: strerror(code)))" }
    }

    /// Paths of files.
    struct Streams {
        var input = "/dev/null"
        var output = "/dev/null"
        var errors = "/dev/null"
    }

    let id: pid_t

    /// - Parameters:
    ///   - command: the name of a program on the `PATH` of the tests, and its arguments.
    ///   - environment: the whole environment; nil for that of the tests.
    init(
        _ command: [String], environment: [String: String]? = nil, workingFolder: String? = nil,
        streams: Streams = .init()
    )
        throws
    {
        var actions = Self.actions(streams, workingFolder)
        defer { posix_spawn_file_actions_destroy(&actions) }
        var attributes = Self.attributes()
        defer { posix_spawnattr_destroy(&attributes) }
        var id = pid_t()
        let code = Self.withCStrings(command) { arguments in
            guard let environment else {
                return posix_spawnp(&id, command[0], &actions, &attributes, arguments, environ)
            }
            return Self.withCStrings(environment.map { "\($0)=\($1)" }) { variables in
                posix_spawnp(&id, command[0], &actions, &attributes, arguments, variables)
            }
        }
        guard code == 0 else { throw Failure(command: command, code: code) }
        self.id = id
    }

    /// Waits until the program has ended. The identifier stays reserved until `release`.
    func waitForEnd() -> ChildProcess.Ending {
        var end = siginfo_t()
        while waitid(P_PID, id_t(id), &end, WEXITED | WNOWAIT) < 0, errno == EINTR {}
        let status = end._sifields._sigchld.si_status
        return end.si_code == CLD_EXITED ? .exited(status) : .killed(signal: status)
    }

    /// Returns the identifier to the kernel. From now on, another process may have it.
    func release() {
        while waitpid(id, nil, 0) < 0, errno == EINTR {}
    }

    /// Whether a program ends with 0. It prints nothing.
    public static func succeeds(_ command: [String]) -> Bool {
        guard let program = try? SpawnedProgram(command) else { return false }
        defer { program.release() }
        return program.waitForEnd() == .exited(0)
    }

    /// A program inherits no descriptors of the tests.
    private static func actions(_ streams: Streams, _ workingFolder: String?) -> posix_spawn_file_actions_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, streams.input, O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, streams.output, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, streams.errors, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1)
        if let workingFolder { posix_spawn_file_actions_addchdir_np(&actions, workingFolder) }
        return actions
    }

    /// A program handles signals as if a terminal had started it: tests that run in the background inherit ignored
    /// keyboard signals, and Swift's threads block signals. A group of its own keeps the signals of the tests' terminal
    /// away.
    private static func attributes() -> posix_spawnattr_t {
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        var (all, none) = (sigset_t(), sigset_t())
        sigfillset(&all)
        sigemptyset(&none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setpgroup(&attributes, 0)
        let flags = POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP
        posix_spawnattr_setflags(&attributes, Int16(flags))
        return attributes
    }

    private static func withCStrings<Result>(
        _ strings: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Result
    ) -> Result {
        let copies = strings.map { strdup($0) }
        defer { for copy in copies { free(copy) } }
        return body(copies + [nil])
    }
}
