import Formats
import Foundation

/// A line of a list of digests, as the programs of GNU, of the BSDs, of Perl (`shasum`) and of OpenSSL write it:
///
///     9f86d081…  name          9f86d081… *name
///     SHA256 (name) = 9f86d081…
///     SHA2-256(name)= 9f86d081…
///
/// A line that begins with a backslash has a name with escapes (GNU coreutils, "md5sum invocation").
public struct DigestLine: Sendable, Equatable {
    public var name: String
    /// In hexadecimal, in any case.
    public var digits: String
    /// The algorithm as a tagged line names it, such as `SHA256`; nil: the line does not name it.
    public var tag: String?

    /// nil for any other text.
    public init?(_ line: String) {
        let isEscaped = line.hasPrefix("\\")
        let text = isEscaped ? line.dropFirst() : line[...]
        guard let (digits, name, tag) = Self.tagged(text) ?? Self.plain(text), !name.isEmpty,
            !digits.isEmpty, digits.utf8.allSatisfy(\.isHexadecimalDigit)
        else { return nil }
        self.digits = String(digits)
        self.name = isEscaped ? Self.unescaped(name) : String(name)
        self.tag = tag
    }

    private typealias Fields = (digits: Substring, name: Substring, tag: String?)

    /// One blank and a mark separate digest and name: a blank for text, `*` for binary. Lists that people write have one blank or a
    /// tab. The marks `?` and `^` of `shasum` mean digests of other bytes than those of the file.
    private static func plain(_ text: Substring) -> Fields? {
        guard let blank = text.firstIndex(where: { $0 == " " || $0 == "\t" }) else { return nil }
        let (digits, rest) = (text[..<blank], text[text.index(after: blank)...])
        return switch rest.first {
        case " " where text[blank] == " ", "*": (digits, rest.dropFirst(), nil)
        case "?", "^", nil: nil
        default: (digits, rest.drop { $0 == " " || $0 == "\t" }, nil)
        }
    }

    private static func tagged(_ text: Substring) -> Fields? {
        for (opening, closing) in [(" (", ") = "), ("(", ")= ")] {
            guard let opening = text.range(of: opening), let closing = text.range(of: closing, options: .backwards),
                opening.upperBound <= closing.lowerBound,
                text[..<opening.lowerBound].allSatisfy({
                    $0.isASCII && ($0.isLetter || $0.isNumber || "-/".contains($0))
                })
            else { continue }
            let digits = text[closing.upperBound...]
            return (digits, text[opening.upperBound..<closing.lowerBound], String(text[..<opening.lowerBound]))
        }
        return nil
    }

    private static func unescaped(_ name: Substring) -> String {
        var (result, isEscape) = ("", false)
        for character in name {
            guard isEscape || character == "\\" else {
                result.append(character)
                continue
            }
            if isEscape {
                let plain: [Character: Character] = ["n": "\n", "r": "\r", "\\": "\\"]
                result.append(plain[character] ?? character)
            }
            isEscape.toggle()
        }
        return result
    }
}

extension Checksum.Algorithm {
    /// The algorithm that a text names, in any of the usual spellings: `SHA256`, `sha-256`, `SHA2-256`.
    public init?(named text: some StringProtocol) {
        switch text.lowercased() {
        case "md5": self = .md5
        case "sha1", "sha-1": self = .sha1
        case "sha256", "sha-256", "sha2-256": self = .sha256
        case "sha512", "sha-512", "sha2-512": self = .sha512
        default: return nil
        }
    }

    /// The algorithm whose digests have this number of hexadecimal digits.
    public init?(digits count: Int) {
        guard let algorithm = Self.allCases.first(where: { 2 * $0.size == count }) else { return nil }
        self = algorithm
    }
}

/// A file with the digests of other files: `SHA256SUMS`, `CHECKSUM`, `image.iso.sha256`. Lines that are no digest lines, such as
/// comments and an enclosed signature, are skipped.
public struct ChecksumList: Sendable, Equatable {
    /// Why a list has no digest for a file.
    public enum Fault: Error, Sendable, Equatable {
        case notListed
        /// The list has two digests for the name, and nothing says which one is meant.
        case ambiguous
        /// The name of the list names an algorithm that fetchd does not compute.
        case unsupported(String)
    }

    public struct Entry: Sendable, Hashable {
        /// The name in the list, without a leading `./`; nil: the list has one digest and no name.
        public var name: String?
        public var checksum: Checksum

        public init(name: String?, checksum: Checksum) {
            self.name = name
            self.checksum = checksum
        }
    }

    /// By the last component of the name.
    private var entries: [String: [Entry]] = [:]
    private var single: Checksum?
    private var unsupported: String?

    /// - Parameter name: the name of the list. An algorithm that it names is that of all digests. Otherwise the line names it, or
    ///   the number of its digits decides.
    public init(_ bytes: [UInt8], named name: String) {
        let given = Self.algorithm(inName: name)
        if case .unsupported(let text) = given { unsupported = text }
        var loose: [Substring.UTF8View.SubSequence] = []
        let text = String(decoding: bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes[3...] : bytes[...], as: UTF8.self)
        // `sha256sum --zero` ends its lines with NUL.
        for part in text.utf8.split(whereSeparator: { $0 == 0x0A || $0 == 0 }) {
            let bytes = part.last == 0x0D ? part.dropLast() : part
            if let line = DigestLine(String(Substring(bytes))) {
                add(line, given)
            } else if !bytes.allSatisfy({ $0 == 0x20 || $0 == 0x09 }) {
                loose.append(bytes)
            }
        }
        // `sha256sum` names its standard input `-`.
        if loose.isEmpty, entries.count == 1, let ofInput = entries["-"], ofInput.count == 1 {
            (entries, single) = ([:], ofInput[0].checksum)
        }
        guard entries.isEmpty, loose.count == 1 else { return }
        // `sha256:9f86d081…`, or the digits alone.
        let words = String(Substring(loose[0])).split { ":= \t".contains($0) }.map(String.init)
        guard let digits = words.last, words.count <= 2 else { return }
        single = Self.checksum(digits, given, tag: words.count == 2 ? words[0] : nil)
    }

    /// The digest of a file.
    ///
    /// - Parameters:
    ///   - path: the name of the file, or the end of its path, as a client has given it.
    ///   - isExact: the client has named an entry of the list: one with exactly this name comes before those in other folders, and a
    ///     digest without a name is not that of the file.
    public func entry(for path: String, isExact: Bool) -> Result<Entry, Fault> {
        if let unsupported { return .failure(.unsupported(unsupported)) }
        if let single, !isExact { return .success(Entry(name: nil, checksum: single)) }
        let wanted = Self.normalized(path)
        let ofName = entries[Self.lastComponent(of: wanted)] ?? []
        let exact = ofName.filter { $0.name == wanted }
        let found = isExact && !exact.isEmpty ? exact : wanted.contains("/") ? exact : ofName
        // A list may have digests of several algorithms. The strongest is used.
        for algorithm in [Checksum.Algorithm.sha512, .sha256, .sha1, .md5] {
            let fitting = found.filter { $0.checksum.algorithm == algorithm }
            guard let first = fitting.first else { continue }
            return Set(fitting.map(\.checksum)).count == 1 ? .success(first) : .failure(.ambiguous)
        }
        return .failure(.notListed)
    }

    private mutating func add(_ line: DigestLine, _ given: NamedAlgorithm) {
        guard let checksum = Self.checksum(line.digits, given, tag: line.tag) else { return }
        let name = Self.normalized(line.name)
        entries[Self.lastComponent(of: name), default: []].append(Entry(name: name, checksum: checksum))
    }

    private static func checksum(_ digits: String, _ given: NamedAlgorithm, tag: String?) -> Checksum? {
        let algorithm: Checksum.Algorithm? =
            switch (given, tag) {
            case (.known(let algorithm), _): algorithm
            case (_, let tag?): Checksum.Algorithm(named: tag)
            case (_, nil): Checksum.Algorithm(digits: digits.utf8.count)
            }
        return algorithm.flatMap { Checksum($0, hexadecimal: digits) }
    }

    private static func normalized(_ path: String) -> String {
        var path = path[...]
        while path.hasPrefix("./") { path = path.dropFirst(2) }
        return String(path)
    }

    private static func lastComponent(of path: String) -> String {
        path.split(separator: "/", omittingEmptySubsequences: false).last.map(String.init) ?? path
    }
}

/// The algorithm that the name of a list names: `SHA256SUMS`, `sha512sum.txt`, `SHASUMS256.txt`, `image.iso.sha256`.
extension ChecksumList {
    enum NamedAlgorithm: Sendable, Equatable {
        case known(Checksum.Algorithm)
        case unsupported(String)
        case unnamed
    }

    /// The last word that names an algorithm decides, because an earlier one can belong to the name of a file.
    static func algorithm(inName name: String) -> NamedAlgorithm {
        let words = name.lowercased().split { !($0.isASCII && ($0.isLetter || $0.isNumber)) }.map(String.init)
        for index in words.indices.reversed() {
            // `sha-256` and `sha3-256` are two words.
            let before = index > 0 ? words[index - 1] : ""
            let spellings = [before + "-" + words[index], before + words[index], words[index]]
            for spelling in spellings.map(withoutSums) {
                if let algorithm = Checksum.Algorithm(named: spelling) { return .known(algorithm) }
                if unsupported.contains(spelling) { return .unsupported(spelling) }
            }
        }
        return .unnamed
    }

    /// `sha256sums` without `sums`, and `shasums256` likewise.
    private static func withoutSums(_ word: String) -> String {
        for sums in ["sums", "sum"] where word.contains(sums) { return word.replacing(sums, with: "") }
        return word
    }

    /// In lower case. The digests of some of them have as many digits as those of SHA-256 or SHA-512.
    private static let unsupported: Set = [
        "b2", "b3", "blake2b", "blake2s", "blake3", "crc32", "sha224", "sha384", "sha-224", "sha-384", "sha3-224",
        "sha3-256", "sha3-384", "sha3-512", "sha512-256", "whirlpool", "sm3",
    ]
}
