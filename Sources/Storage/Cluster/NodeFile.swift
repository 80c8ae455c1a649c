import Downloads
import Formats
import Foundation

/// The file `node` of a data folder: the identifier of the service in a database that several share. So a service that starts
/// again is the same node.
enum NodeFile {
    /// Reads the identifier, or makes a new one.
    static func identifier(in folder: DataFolder) throws(StoreError) -> String {
        let url = URL(filePath: folder.files.node)
        if let text = try? String(contentsOf: url, encoding: .utf8),
            ULID(text.trimmingCharacters(in: .whitespacesAndNewlines)) != nil
        {
            return text.trimmingCharacters(in: .whitespacesAndNewlines)
        }
        var sequence = ULIDSequence()
        let identifier = sequence.next(at: Date()).description
        do {
            try Data((identifier + "\n").utf8).write(to: url, options: .atomic)
        } catch {
            throw .folderUnusable(path: folder.path, why: "its file node cannot be written: \(error)")
        }
        try folder.sync(file: folder.files.node)
        try folder.sync()
        return identifier
    }
}
