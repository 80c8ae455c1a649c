import Formats

/// A structured field that is a dictionary (RFC 9651, section 4.2.2; before that RFC 8941). Of its members those that are
/// byte sequences are kept; the others have to be well-formed, as one mistake anywhere makes the whole field void.
struct StructuredDictionary {
    private(set) var byteSequences: [String: [UInt8]] = [:]

    /// nil where it is malformed.
    ///
    /// - Parameter lines: the field's lines, in order; together they are one dictionary.
    init?(_ lines: [String]) {
        let text = lines.filter { !$0.allSatisfy(\.isWhitespace) }.joined(separator: ",")
        var parser = StructuredFieldParser(text)
        do {
            byteSequences = try parser.dictionary()
        } catch {
            return nil
        }
    }
}

/// Reads from left to right, as the RFC's algorithms do. No rule contains itself, so that no input makes it deep.
private struct StructuredFieldParser {
    struct Malformed: Error {}

    private var rest: ArraySlice<UInt8>

    init(_ text: String) { rest = Array(text.utf8)[...] }

    mutating func dictionary() throws(Malformed) -> [String: [UInt8]] {
        var members: [String: [UInt8]] = [:]
        skip(" ")
        while !rest.isEmpty {
            // Of members of one name the last counts, whatever it is.
            let name = try key()
            members[name] = try take("=") ? itemOrInnerList() : nil
            try parameters()
            skip(" \t")
            if rest.isEmpty { return members }
            try expect(",")
            skip(" \t")
            guard !rest.isEmpty else { throw Malformed() }
        }
        return members
    }

    // MARK: Members

    private mutating func itemOrInnerList() throws(Malformed) -> [UInt8]? {
        guard take("(") else { return try bareItem() }
        while true {
            skip(" ")
            if take(")") { return nil }
            _ = try bareItem()
            try parameters()
            guard rest.first == UInt8(ascii: " ") || rest.first == UInt8(ascii: ")") else { throw Malformed() }
        }
    }

    private mutating func parameters() throws(Malformed) {
        while take(";") {
            skip(" ")
            _ = try key()
            if take("=") { _ = try bareItem() }
        }
    }

    private mutating func key() throws(Malformed) -> String {
        let key = takeAll { $0.isLowercaseLetter || $0.isDigit || Self.keySigns.contains($0) }
        guard let first = key.first, first.isLowercaseLetter || first == UInt8(ascii: "*") else { throw Malformed() }
        return String(decoding: key, as: UTF8.self)
    }

    // MARK: Bare items

    /// The bytes of a byte sequence; nil of every other kind.
    private mutating func bareItem() throws(Malformed) -> [UInt8]? {
        guard let first = rest.first else { throw Malformed() }
        switch first {
        case UInt8(ascii: ":"): return try byteSequence()
        case UInt8(ascii: "\""): try string()
        case UInt8(ascii: "?"): try boolean()
        case UInt8(ascii: "@"): try date()
        case UInt8(ascii: "%"): try displayString()
        case UInt8(ascii: "-"): try number()
        case let byte where byte.isDigit: try number()
        case let byte where byte.isLetter || byte == UInt8(ascii: "*"): _ = takeAll { $0.isOfToken }
        default: throw Malformed()
        }
        return nil
    }

    /// Missing padding and its bits are no matter (section 4.2.7).
    private mutating func byteSequence() throws(Malformed) -> [UInt8] {
        try expect(":")
        let encoded = takeAll { $0.isLetter || $0.isDigit || Self.base64Signs.contains($0) }
        try expect(":")
        guard let bytes = [UInt8](base64: String(decoding: encoded, as: UTF8.self)) else { throw Malformed() }
        return bytes
    }

    private mutating func string() throws(Malformed) {
        try expect("\"")
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "\""): return
            case UInt8(ascii: "\\"): guard take("\"") || take("\\") else { throw Malformed() }
            case 0x20...0x7E: continue
            default: throw Malformed()
            }
        }
        throw Malformed()
    }

    private mutating func displayString() throws(Malformed) {
        try expect("%")
        try expect("\"")
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "\""): return
            case UInt8(ascii: "%"):
                guard rest.prefix(2).count == 2, rest.prefix(2).allSatisfy(\.isLowercaseHexadecimal) else {
                    throw Malformed()
                }
                rest = rest.dropFirst(2)
            case 0x20...0x7E: continue
            default: throw Malformed()
            }
        }
        throw Malformed()
    }

    private mutating func boolean() throws(Malformed) {
        try expect("?")
        guard take("0") || take("1") else { throw Malformed() }
    }

    private mutating func date() throws(Malformed) {
        try expect("@")
        guard try number() == .integer else { throw Malformed() }
    }

    private enum Number { case integer, decimal }

    /// At most 15 digits; of a decimal at most 12 before the point and 1 to 3 behind it (section 4.2.4).
    @discardableResult
    private mutating func number() throws(Malformed) -> Number {
        _ = take("-")
        let whole = takeAll(\.isDigit).count
        guard take(".") else {
            guard (1...15).contains(whole) else { throw Malformed() }
            return .integer
        }
        guard (1...12).contains(whole), (1...3).contains(takeAll(\.isDigit).count) else { throw Malformed() }
        return .decimal
    }

    // MARK: Bytes

    private static let keySigns = Set("_-.*".utf8)
    private static let base64Signs = Set("+/=".utf8)

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard rest.first == UInt8(ascii: character) else { return false }
        rest.removeFirst()
        return true
    }

    private mutating func expect(_ character: Unicode.Scalar) throws(Malformed) {
        guard take(character) else { throw Malformed() }
    }

    private mutating func takeAll(_ isWanted: (UInt8) -> Bool) -> ArraySlice<UInt8> {
        let taken = rest.prefix(while: isWanted)
        rest = rest[taken.endIndex...]
        return taken
    }

    private mutating func skip(_ characters: String) {
        rest = rest.drop { characters.utf8.contains($0) }
    }
}

extension UInt8 {
    fileprivate var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }
    fileprivate var isLowercaseLetter: Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self) }
    fileprivate var isLetter: Bool { isLowercaseLetter || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) }
    fileprivate var isLowercaseHexadecimal: Bool { isDigit || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(self) }
    /// A token's characters, `:` and `/` (section 3.3.4).
    fileprivate var isOfToken: Bool { isLetter || isDigit || Self.tokenSigns.contains(self) }

    private static let tokenSigns = Set("!#$%&'*+-.^_`|~:/".utf8)
}
