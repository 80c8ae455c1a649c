import Downloads

/// A file in the folder of this node that no job needs any more. Another node has dropped it.
public struct Removal: Sendable {
    public enum Subject: Sendable, Equatable {
        case part(PartID)
        case file(FinishedFile)
    }

    public let subject: Subject
    /// The columns of the row.
    let kind, name: String

    init(_ subject: Subject) throws {
        switch subject {
        case .part(let part):
            (self.subject, kind, name) = (subject, "part", part.text)
        case .file(let file):
            let reduced = Self.identity(of: file)
            (self.subject, kind, name) = (.file(reduced), "file", try Stored.text(reduced))
        }
    }

    /// What tells the file from others: its path, size and mark. The row is a key, whose length PostgreSQL limits to about
    /// 2,700 bytes, and the content type of an origin can be longer. A path has at most 1,280 bytes.
    private static func identity(of file: FinishedFile) -> FinishedFile {
        FinishedFile(path: file.path, size: file.size, sha256: nil, contentType: nil, mark: file.mark)
    }

    init(_ row: SQLRow) throws {
        (kind, name) = (row["kind"], row["name"])
        subject = kind == "part" ? .part(PartID(name)) : .file(try Stored.value(FinishedFile.self, from: name))
    }
}
