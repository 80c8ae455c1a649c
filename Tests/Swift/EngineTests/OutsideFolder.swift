import Foundation
import TestKit

/// A folder outside the downloads folder, with a file in it. Nothing may change in either.
struct OutsideFolder {
    static let text = "precious, and longer than every part"

    private let folder: TemporaryFolder
    private let before: stat

    init() throws {
        folder = try TemporaryFolder()
        let file = try folder.write(Self.text, to: "precious")
        chmod(file, 0o604)
        before = try Self.status(file)
    }

    var path: String { folder.path }
    var file: String { folder.path("precious") }

    func path(_ name: String) -> String { folder.path(name) }

    /// Whether the folder has only its file, and the file is the same, with the same bytes and permissions.
    var isUntouched: Bool {
        guard let now = try? Self.status(file) else { return false }
        let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        return now.st_ino == before.st_ino && now.st_mode == before.st_mode
            && now.st_mtim.tv_sec == before.st_mtim.tv_sec && now.st_mtim.tv_nsec == before.st_mtim.tv_nsec
            && names == ["precious"] && folder.bytes(of: "precious") == Array(Self.text.utf8)
    }

    private static func status(_ path: String) throws -> stat {
        var status = stat()
        guard lstat(path, &status) == 0 else { throw CocoaError(.fileReadUnknown) }
        return status
    }
}
