import Foundation
import Glibc

/// Begins the same program again in this process: same identifier, arguments and environment, but nothing in memory. All
/// descriptors of the service are closed by it (O_CLOEXEC).
enum Restart {
    /// Returns only if the system refuses it.
    static func now() {
        let arguments = CommandLine.arguments.map { strdup($0) } + [nil]
        let link = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        unblockSignals()
        execv(path(from: link), arguments)
        execv("/proc/self/exe", arguments)
        for argument in arguments { free(argument) }
    }

    /// The path of the program, which leads to the new file after an upgrade has replaced the running one.
    ///
    /// - Parameter link: the target of `/proc/self/exe`. The kernel marks a file that was replaced (proc_pid_exe(5)).
    static func path(from link: String) -> String {
        let mark = " (deleted)"
        return link.hasSuffix(mark) ? String(link.dropLast(mark.count)) : link
    }

    /// The new program keeps the mask of this thread. The threads of Dispatch block signals.
    private static func unblockSignals() {
        var none = sigset_t()
        sigemptyset(&none)
        pthread_sigmask(SIG_SETMASK, &none, nil)
    }
}
