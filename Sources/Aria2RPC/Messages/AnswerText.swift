import Formats

/// The memory for the answer to one message.
public struct AnswerRoom: Sendable {
    /// The largest answer in bytes. What an answer has beside the results of reading calls is small.
    public static let largestAnswer = 16 << 20

    /// Counts an answer of so many bytes; false if the service has no memory for it now.
    let resize: @Sendable (_ bytes: Int) -> Bool

    public init(_ resize: @escaping @Sendable (_ bytes: Int) -> Bool) { self.resize = resize }
}

/// The answer to a message while it is written, call by call. It is bounded, however much the calls ask for.
struct AnswerText {
    private(set) var bytes: [UInt8] = []
    private let room: AnswerRoom
    private let limit: Int
    /// Whether a result did not fit. Then no further one is read: most of them would be read in vain.
    private(set) var isFull = false

    init(_ room: AnswerRoom, limit: Int = AnswerRoom.largestAnswer) { (self.room, self.limit) = (room, limit) }

    var count: Int { bytes.count }

    /// Removes what was written after a position.
    mutating func cut(to count: Int) { bytes.removeLast(bytes.count - count) }

    /// Writes what is part of every answer: punctuation, identifiers and errors.
    mutating func append(_ punctuation: StaticString) {
        punctuation.withUTF8Buffer { bytes.append(contentsOf: $0) }
    }

    mutating func write(_ value: JSON) { value.write(into: &bytes) }

    /// Writes what a call has read.
    ///
    /// - Throws: if it makes the answer too large, or if there is no memory for it. The caller then cuts the answer.
    mutating func write(read value: JSON) throws(RPCError) {
        value.write(into: &bytes)
        guard bytes.count <= limit else {
            isFull = true
            throw .answerTooLarge
        }
        guard room.resize(bytes.count) else { throw .outOfMemory }
    }
}
