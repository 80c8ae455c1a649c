import Foundation
import Glibc

/// Begins the same program again in this process: same identifier, arguments and environment, but nothing in memory. All
/// descriptors of the service are closed by it (O_CLOEXEC).
enum Restart {
    /// Returns only if the system refuses it.
    static func now() {
        let arguments = CommandLine.arguments.map { strdup($0) } + [nil]
        // The link names the running program also after an upgrade has replaced the file; the path finds the new one.
        let path = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        execv(path, arguments)
        execv("/proc/self/exe", arguments)
        for argument in arguments { free(argument) }
    }
}
