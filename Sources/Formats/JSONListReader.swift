/// Reads a document such as `{"jobs": [{...}, {...}]}`, which is an object with one list, element by element. So only one
/// element at a time is in memory as a value: a value can take twenty times the memory of its text.
public struct JSONListReader {
    public enum Step: Sendable, Equatable {
        case element(JSON)
        case end
        /// The document is well-formed up to here, but is not an object, or is too large to find out.
        case notAnObject
        case otherMember(String)
        case notAList
        case tooLarge
    }

    private enum Place { case start, list(isBegun: Bool), end }

    private let name: String
    private let limit: Int
    private var parser: JSONParser
    private var place = Place.start
    private var hasList = false
    /// What is wrong with the members so far. A fault in the rest of the text takes precedence.
    private var problem: Step?

    /// - Parameters:
    ///   - name: the name of the member that is the list.
    ///   - limit: the largest element in bytes.
    public init(_ name: String, in bytes: [UInt8], elementsOfAtMost limit: Int) {
        self.name = name
        self.limit = limit
        parser = JSONParser(bytes)
    }

    /// After any step but an element, the document must not be read further.
    ///
    /// - Throws: `JSONFault` if the document is not well-formed up to the end of the element.
    public mutating func next() throws(JSONFault) -> Step {
        switch place {
        case .start: return try begin()
        case .list(let isBegun):
            guard isBegun ? parser.take(UInt8(ascii: ",")) : !parser.take(UInt8(ascii: "]")) else {
                return try endList(isBegun)
            }
            place = .list(isBegun: true)
            return try parser.value(atMost: limit).map { .element($0) } ?? .tooLarge
        case .end: return .end
        }
    }

    private mutating func begin() throws(JSONFault) -> Step {
        guard parser.take(UInt8(ascii: "{")) else {
            // A text that is not JSON is a fault.
            if try parser.value(atMost: limit) != nil { try parser.finish() }
            return .notAnObject
        }
        return parser.take(UInt8(ascii: "}")) ? try endDocument() : try members()
    }

    /// Reads members up to the first element of the list.
    private mutating func members() throws(JSONFault) -> Step {
        repeat {
            let found = try parser.name()
            if found != name {
                problem = problem ?? .otherMember(found)
            } else if hasList {
                throw parser.repeated(name)
            } else {
                hasList = true
                if parser.take(UInt8(ascii: "[")) {
                    place = .list(isBegun: false)
                    return try next()
                }
                problem = problem ?? .notAList
            }
            if try parser.value(atMost: limit) == nil { return problem ?? .tooLarge }
            // The rest of a large document is not worth its time.
            if let problem, parser.position > limit { return problem }
        } while parser.take(UInt8(ascii: ","))
        return try endObject()
    }

    private mutating func endList(_ isBegun: Bool) throws(JSONFault) -> Step {
        // An empty list has ended already.
        guard !isBegun || parser.take(UInt8(ascii: "]")) else {
            throw parser.fault("A comma or the end of the array should be here")
        }
        return parser.take(UInt8(ascii: ",")) ? try members() : try endObject()
    }

    private mutating func endObject() throws(JSONFault) -> Step {
        guard parser.take(UInt8(ascii: "}")) else {
            throw parser.fault("A comma or the end of the object should be here")
        }
        return try endDocument()
    }

    private mutating func endDocument() throws(JSONFault) -> Step {
        try parser.finish()
        place = .end
        return problem ?? (hasList ? .end : .notAList)
    }
}
