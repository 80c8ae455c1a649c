import CExpat
import Formats
import Foundation
import HTTPSemantics

/// `metalink`: a document of RFC 5854, or of version 3 (`http://www.metalinker.org/`). Each file is a job with its mirrors, its size
/// and its strongest digest.
///
/// The parser of Expat loads nothing from outside, and limits the growth of entities.
struct MetalinkReader: ListSource {
    private let parser = ExpatParser()

    mutating func read(_ piece: [UInt8]) -> [ListEntry] { parser.parse(piece, isLast: false) }
    mutating func finish() -> [ListEntry] { parser.parse([], isLast: true) }
}

private final class ExpatParser {
    private let parser: XML_Parser
    private var document = MetalinkDocument()
    private var hasFailed = false
    /// Bytes since the last element or text. Expat keeps a tag in memory until its end.
    private var unread = 0

    init() {
        guard let parser = XML_ParserCreate(nil) else { preconditionFailure("Expat has no memory") }
        self.parser = parser
        XML_SetElementHandler(parser, startElement, endElement)
        XML_SetCharacterDataHandler(parser, characterData)
    }

    deinit { XML_ParserFree(parser) }

    func parse(_ piece: [UInt8], isLast: Bool) -> [ListEntry] {
        guard !hasFailed else { return [] }
        unread += piece.count
        XML_SetUserData(parser, Unmanaged.passUnretained(self).toOpaque())
        let status = piece.withUnsafeBytes {
            XML_Parse(parser, $0.baseAddress?.assumingMemoryBound(to: CChar.self), Int32($0.count), isLast ? 1 : 0)
        }
        var entries = document.takeEntries()
        if status != XML_STATUS_OK || isTooLarge {
            hasFailed = true
            entries.append(ListEntry(line: line, ListFault(failure, isFatal: true)))
        } else if isLast, !document.isMetalink {
            entries.append(ListEntry(line: 1, ListFault("The document is no Metalink.", isFatal: true)))
        }
        return entries
    }

    private var failure: String {
        if isTooLarge { return "A file or a tag of the document has more than \(MetalinkDocument.mostText) bytes." }
        let reason = XML_ErrorString(XML_GetErrorCode(parser)).map { String(cString: $0) } ?? "unknown"
        return "The document is not well-formed XML: \(reason)."
    }

    private var isTooLarge: Bool { document.isTooLarge || unread > Self.largestTag }

    /// Bytes, with the piece that has its end.
    private static let largestTag = 256 << 10

    private var line: Int { Int(XML_GetCurrentLineNumber(parser)) }

    fileprivate func start(_ name: String, _ attributes: [String: String]) {
        unread = 0
        document.start(name, attributes, at: line)
        stopIfTooLarge()
    }

    fileprivate func end() {
        unread = 0
        document.end()
    }

    fileprivate func text(_ bytes: UnsafeRawBufferPointer) {
        unread = 0
        document.add(bytes)
        stopIfTooLarge()
    }

    private func stopIfTooLarge() { if document.isTooLarge { XML_StopParser(parser, 0) } }
}

private func expat(_ context: UnsafeMutableRawPointer?) -> ExpatParser? {
    context.map { Unmanaged<ExpatParser>.fromOpaque($0).takeUnretainedValue() }
}

private func startElement(
    context: UnsafeMutableRawPointer?, name: UnsafePointer<XML_Char>?,
    attributes: UnsafeMutablePointer<UnsafePointer<XML_Char>?>?
) {
    guard let name else { return }
    var values: [String: String] = [:]
    // The names and values alternate, up to a null pointer.
    var next = attributes
    while let pair = next, let name = pair[0], let value = pair[1] {
        values[String(cString: name)] = String(cString: value)
        next = pair + 2
    }
    expat(context)?.start(String(cString: name), values)
}

private func endElement(context: UnsafeMutableRawPointer?, name: UnsafePointer<XML_Char>?) { expat(context)?.end() }

private func characterData(context: UnsafeMutableRawPointer?, text: UnsafePointer<XML_Char>?, count: Int32) {
    expat(context)?.text(UnsafeRawBufferPointer(start: text, count: Int(count)))
}

/// The files of a document, gathered from its elements.
struct MetalinkDocument {
    /// Bytes of one file with its mirrors and digests.
    static let mostText = 256 << 10

    private struct File {
        var line: Int
        var name: String
        var size = ""
        var digests: [(algorithm: String, digits: String)] = []
        /// Those that the document has last. Documents of several algorithms are rare.
        var pieces: (algorithm: String, length: String, digits: [String])?
        /// Of the mirrors, 1 is the best priority (RFC 5854, section 4.1.2.4).
        var urls: [(priority: Int, url: String)] = []
    }

    private(set) var isMetalink = false
    private(set) var isTooLarge = false
    private var entries: [ListEntry] = []
    /// The open elements.
    private var path: [(name: String, attributes: [String: String])] = []
    private var file: File?
    private var text: [UInt8] = []
    private var textOfFile = 0

    mutating func takeEntries() -> [ListEntry] {
        defer { entries = [] }
        return entries
    }

    mutating func start(_ name: String, _ attributes: [String: String], at line: Int) {
        // A prefix of a namespace has no meaning here.
        let local = name.split(separator: ":").last.map(String.init) ?? name
        if path.isEmpty { isMetalink = local == "metalink" }
        path.append((local, attributes))
        text = []
        if path.count > Self.deepest { isTooLarge = true }
        guard isMetalink, file == nil else {
            if local == "pieces" { file?.pieces = (attributes["type"] ?? "", attributes["length"] ?? "", []) }
            let size = attributes.reduce(Self.sizeOfElement) { $0 + $1.key.utf8.count + $1.value.utf8.count }
            return count(size)
        }
        guard local == "file" else { return }
        file = File(line: line, name: attributes["name"] ?? "")
        textOfFile = 0
    }

    mutating func add(_ bytes: UnsafeRawBufferPointer) {
        guard file != nil else { return }
        count(bytes.count)
        if !isTooLarge { text += bytes }
    }

    private mutating func count(_ bytes: Int) {
        textOfFile += bytes
        if file != nil, textOfFile > Self.mostText { isTooLarge = true }
    }

    mutating func end() {
        guard let (name, attributes) = path.popLast(), file != nil else { return }
        let value = String(decoding: text, as: UTF8.self).trimmed
        text = []
        switch name {
        case "size": file?.size = value
        case "hash" where path.last?.name == "pieces": file?.pieces?.digits.append(value)
        case "hash":
            file?.digests.append((attributes["type"] ?? "", value))
        case "url": file?.urls.append((Self.priority(attributes), value))
        case "file":
            if let file { entries.append(Self.entry(of: file)) }
            file = nil
        default: break
        }
    }

    /// Version 3 counts the other way: a preference of 100 is the best.
    private static func priority(_ attributes: [String: String]) -> Int {
        if let priority = attributes["priority"].flatMap({ Int($0) }) { return priority }
        return attributes["preference"].flatMap { Int($0) }.map { 1_000 - min(max($0, 0), 100) } ?? 999_999
    }

    private static func entry(of file: File) -> ListEntry {
        let all = file.urls.enumerated().sorted { ($0.element.priority, $0.offset) < ($1.element.priority, $1.offset) }
            .map(\.element.url)
        guard let mirrors = ListMirrors(all) else {
            return ListEntry(line: file.line, ListFault("The file has no URL with http or https."))
        }
        var job = mirrors.job
        if let path = ListPath(file.name) {
            job["destination"] = path.destination
        } else if !file.name.isEmpty {
            return ListEntry(line: file.line, ListFault("The name '\(file.name)' is not a path below a folder."))
        }
        do throws(ListFault) {
            if !file.size.isEmpty { job["expected_size"] = try TabSeparatedLines.size(file.size) }
        } catch {
            return ListEntry(line: file.line, error)
        }
        job["checksum"] = strongest(of: file.digests)
        job["pieces"] = pieces(of: file)
        return ListEntry(line: file.line, job, remarks: mirrors.remarks)
    }

    /// nil also for pieces that cannot be used. They are not needed to verify a file with a digest.
    private static func pieces(of file: File) -> JSON? {
        guard let pieces = file.pieces, let length = Int64(pieces.length),
            let algorithm = Checksum.Algorithm(named: pieces.algorithm)
        else { return nil }
        let digests = pieces.digits.compactMap { Checksum(algorithm, hexadecimal: $0)?.bytes }
        guard digests.count == pieces.digits.count,
            let usable = PieceDigests(algorithm, length: length, digests: Data(digests.joined()))
        else { return nil }
        return [
            "algorithm": .string(algorithm.rawValue), "length": .integer(usable.length),
            "digests": .string(usable.digests.base64EncodedString()),
        ]
    }

    private static func strongest(of digests: [(algorithm: String, digits: String)]) -> JSON? {
        for algorithm in ["sha512", "sha256", "sha1", "md5"] {
            let found = digests.first { $0.algorithm.lowercased().replacing("-", with: "") == algorithm }
            if let found { return ListChecksum.of(found.digits, algorithm: algorithm) }
        }
        return nil
    }

    private static let deepest = 32
    private static let sizeOfElement = 16
}
