import Foundation
import Glibc

/// The programs of a PostgreSQL server, as Debian installs them: each version has its own folder.
struct PostgresPrograms: Sendable {
    private let folder: String

    /// Those of the newest version; nil if there are none.
    static let installed: PostgresPrograms? = {
        let root = "/usr/lib/postgresql"
        let versions = (try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []
        let newest = versions.compactMap { Int($0) }.max()
        guard let folder = newest.map({ "\(root)/\($0)/bin" }),
            FileManager.default.isExecutableFile(atPath: "\(folder)/initdb")
        else { return nil }
        return PostgresPrograms(folder: folder)
    }()

    /// Starts a program, as `nobody` if the tests run as root.
    func start(_ program: String, _ arguments: [String], in workingFolder: String) async throws -> ChildProcess {
        let path = "\(folder)/\(program)"
        let environment = ["LC_ALL": "C", "TZ": "UTC"]
        guard geteuid() == 0 else {
            return try await ChildProcess(path, arguments, environment: environment, workingFolder: workingFolder)
        }
        // The change of the user ends what `ChildProcess` has asked the kernel for.
        let asNobody = [
            "--reuid=\(Self.nobody)", "--regid=\(Self.nobody)", "--clear-groups", "--pdeathsig", "KILL", "--",
        ]
        return try await ChildProcess(
            "setpriv", asNobody + [path] + arguments, environment: environment, workingFolder: workingFolder)
    }

    /// Makes a file or folder that of the user who runs the server.
    static func give(_ path: String, mode: mode_t? = nil) throws {
        if geteuid() == 0, chown(path, nobody, nobody) != 0 { throw Overdue("chown \(path) failed: \(errno)") }
        if let mode, chmod(path, mode) != 0 { throw Overdue("chmod \(path) failed: \(errno)") }
    }

    /// The user `nobody` and the group `nogroup` of Debian.
    private static let nobody: uid_t = 65_534

    /// The running processes that a process has started.
    static func children(of parent: Int32) -> [Int32] {
        let processes = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return processes.compactMap { Int32($0) }.filter { process in
            guard let status = FileManager.default.contents(atPath: "/proc/\(process)/stat") else { return false }
            // `pid (name) state ppid ...`, and a name can contain anything.
            let fields = String(decoding: status, as: UTF8.self).split(separator: ")").last?.split(separator: " ") ?? []
            return fields.count > 1 && fields[1] == "\(parent)"
        }
    }
}
