import CLinux
import Foundation
import Glibc

/// The process of a command. No shell takes part, and no argument comes from an event.
struct HookProcess: Sendable {
    let command: [String]
    /// The folders of locations on this machine. A path in another location stays relative to the folder of that location.
    let folders: [String: String]

    /// Runs the command with the event on its standard input, and returns when it ends.
    ///
    /// The command has the standard output and the standard error of this process.
    func run(_ event: HookEvent) async -> HookEnd {
        // A thread of its own: the threads of tasks are as few as the processors, and must not wait.
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: end(of: event)) }
        }
    }

    private func end(of event: HookEvent) -> HookEnd {
        var process = pid_t()
        let error = start(event, &process)
        guard error == 0 else { return .notStarted(error) }
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0 { guard errno == EINTR else { return .notStarted(errno) } }
        // wait(2): the low seven bits are the signal, and the next byte is the status.
        return status & 0x7f == 0 ? .exited((status >> 8) & 0xff) : .killed(signal: status & 0x7f)
    }

    private func start(_ event: HookEvent, _ process: inout pid_t) -> Int32 {
        // A file in memory and not a pipe: the command need not read it.
        let input = linux_memory_file("event")
        guard input >= 0 else { return errno }
        defer { close(input) }
        guard event.document.withUnsafeBytes({ write(input, $0.baseAddress, $0.count) }) == event.document.count,
            lseek(input, 0, SEEK_SET) == 0
        else { return errno }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // A signal of the terminal is for this process, which waits for its commands. This process ignores SIGPIPE.
        var (none, defaults) = (sigset_t(), sigset_t())
        sigemptyset(&none)
        sigemptyset(&defaults)
        for number in [SIGPIPE, SIGINT, SIGTERM, SIGHUP] { sigaddset(&defaults, number) }
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &defaults)
        let flags = POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF
        posix_spawnattr_setflags(&attributes, Int16(flags))
        return Self.withPointers(to: command) { arguments in
            Self.withPointers(to: environment(of: event)) { environment in
                posix_spawnp(&process, command[0], &actions, &attributes, arguments, environment)
            }
        }
    }

    private func environment(of event: HookEvent) -> [String] {
        var values = ProcessInfo.processInfo.environment
        values["FETCHD_EVENT"] = String(event.id)
        values["FETCHD_JOB"] = event.job
        values["FETCHD_FILE_LOCATION"] = event.location
        // Events of earlier versions name no location.
        let folder = folders[event.location ?? "default"]
        values["FETCHD_PATH"] = event.path.map { path in folder.map { "\($0)/\(path)" } ?? path }
        return values.map { "\($0.key)=\($0.value)" }
    }

    private static func withPointers<Result>(
        to texts: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Result
    ) -> Result {
        let copies = texts.map { strdup($0) }
        defer { copies.forEach { free($0) } }
        return body(copies + [nil])
    }
}
