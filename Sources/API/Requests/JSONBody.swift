import Formats
import HTTPServer

/// The JSON body of a request.
enum JSONBody {
    /// Maximum size in bytes of a body, and of one job in a batch.
    static let limit = 1 << 20
    static let batchLimit = 32 << 20

    static func parse(_ bytes: [UInt8]) throws(Problem) -> JSON {
        try wellFormed { () throws(JSONFault) in try JSON(parsing: bytes) }
    }

    /// Reads the elements of a body such as `{"jobs": [...]}` one after another. The first one that cannot be used refuses
    /// the request; the rest of the body is not read.
    ///
    /// - Parameters:
    ///   - name: the only member of the body. It is also the word for its elements.
    ///   - most: the maximum number of elements. There must be at least one.
    static func list<Element>(
        _ name: String, in bytes: [UInt8], atMost most: Int,
        _ read: (inout FieldReader) throws(Problem) -> Element
    ) throws(Problem) -> [Element] {
        var elements: [Element] = []
        var list = JSONListReader(name, in: bytes, elementsOfAtMost: limit)
        let wrongCount = FieldReader(JSONObject()).invalid(name, "must be an array of 1 to \(most) \(name)")
        while true {
            switch try wellFormed({ () throws(JSONFault) in try list.next() }) {
            case .element(let value):
                guard elements.count < most else { throw wrongCount }
                var reader = try FieldReader(value, at: "/\(name)/\(elements.count)")
                elements.append(try read(&reader))
                try reader.finish()
            case .end where !elements.isEmpty: return elements
            case .end, .notAList: throw wrongCount
            case .notAnObject: throw Problem(.invalidValue, "The body must be an object.", at: "")
            case .otherMember(let other): throw FieldReader(JSONObject()).unknown(other)
            case .tooLarge:
                throw FieldReader(JSONObject(), at: "/\(name)")
                    .invalid("\(elements.count)", "is larger than \(limit) bytes")
            }
        }
    }

    private static func wellFormed<Value>(_ read: () throws(JSONFault) -> Value) throws(Problem) -> Value {
        do throws(JSONFault) {
            return try read()
        } catch {
            throw Problem(.malformedJSON, "The body is not well-formed JSON. \(error).")
        }
    }
}
