import Formats
import HTTPServer
import HTTPTypes

/// A list of documents in a response, written one after another, so that a long list needs no tree of values. It is bounded.
struct DocumentList {
    /// The largest list in bytes.
    static let mostBytes = 16 << 20

    private var writer: JSONWriter
    private var isEmpty = true

    /// - Parameters:
    ///   - name: of the member that has the list.
    ///   - capacity: the expected size in bytes.
    init(_ name: StaticString, capacity: Int = 1_024) {
        writer = JSONWriter(capacity: min(capacity, Self.mostBytes))
        writer.value(Array("{\"\(name)\":[".utf8))
    }

    /// - Returns: false if there is no room for the document. Then nothing was added. The first one always has room.
    mutating func add(_ document: [UInt8]) -> Bool {
        guard isEmpty || writer.bytes.count + document.count < Self.mostBytes else { return false }
        if !isEmpty { writer.value([UInt8(ascii: ",")]) }
        isEmpty = false
        writer.value(document)
        return true
    }

    mutating func add(_ document: JSON) -> Bool { add(document.bytes) }

    /// Adds an element of a list without pages.
    ///
    /// - Throws: 422 if there is no room for it.
    mutating func require(_ document: JSON, _ advice: String) throws(Problem) {
        guard add(document) else {
            throw Problem(
                .answerTooLarge, "The list is larger than \(Self.mostBytes >> 20) MiB, the largest answer. \(advice)")
        }
    }

    /// Ends the list, and adds the members behind it.
    consuming func response(_ members: KeyValuePairs<StaticString, JSON> = [:], headers: HTTPFields = [:]) -> Response {
        writer.value([UInt8(ascii: "]")])
        for (name, value) in members { writer.member(name, value) }
        writer.value([UInt8(ascii: "}")])
        return .json(writer, headers: headers)
    }
}
