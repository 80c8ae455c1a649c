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
        self.subject = subject
        switch subject {
        case .part(let part): (kind, name) = ("part", part.text)
        case .file(let file): (kind, name) = ("file", try Stored.text(file))
        }
    }

    init(_ row: SQLRow) throws {
        (kind, name) = (row["kind"], row["name"])
        subject = kind == "part" ? .part(PartID(name)) : .file(try Stored.value(FinishedFile.self, from: name))
    }
}
