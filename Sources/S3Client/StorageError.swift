import CExpat
import CurlClient
import Foundation

/// Why a request to the storage has failed.
public struct StorageError: Error, Sendable, Equatable, CustomStringConvertible {
    /// nil: there was no answer. Then it is not known whether the request was carried out.
    public var status: Int?
    /// S3's name of the error, such as `NoSuchUpload`; the status if the answer has none, as that to a `HEAD` request.
    public var code: String
    public var message: String
    /// The region of the bucket, if the server says that the request was signed for another one.
    public var region: String?

    public var description: String {
        let place = region.map { " The region of the bucket is \($0)." } ?? ""
        return "The storage answered \(code): \(message)\(place)"
    }

    /// Whether the same request can succeed later.
    public var mayPass: Bool {
        // A server that has begun a 200 reports errors of its own in the body.
        guard let status, status != 200 else { return true }
        return status >= 500 || status == 429 || ["RequestTimeout", "SlowDown"].contains(code)
    }

    init(_ error: TransferError) { (status, code, message) = (nil, "no_answer", "\(error)") }

    /// - Parameter code: of the call on a file whose bytes were to be sent.
    init(unreadableFile code: Int32) {
        (status, self.code) = (nil, "unreadable_file")
        message = "The file to send cannot be read: \(String(cString: strerror(code)))."
    }

    public init(noKey why: String) { (status, code, message) = (nil, "no_key", why) }

    public init(code: String, message: String) { (status, self.code, self.message) = (0, code, message) }

    init(unreadable status: Int) {
        (self.status, code) = (status, "unreadable")
        message = "It is no answer of S3."
    }

    /// nil for an answer that reports success.
    init?(_ status: Int, _ headers: [(name: String, value: String)], _ body: XMLLeaves) {
        let error = body.root == "Error" ? body : XMLLeaves([])
        let code = error["Code"].first
        guard !(200..<300).contains(status) || code != nil else { return nil }
        self.status = status
        self.code = code ?? String(status)
        message = error["Message"].first ?? "The answer has no message."
        region =
            headers.last { $0.name.lowercased() == "x-amz-bucket-region" && status == 301 }?.value
            ?? error["Region"].first
    }
}

/// The texts of the innermost elements of an XML document, by their paths below the root: `Part/ETag`. Namespaces are left out. Empty
/// for a document that is no XML.
///
/// Expat loads nothing from outside, and limits the growth of entities.
struct XMLLeaves: Sendable {
    /// Servers differ in the names of roots, except for `Error`.
    private(set) var root: String?
    private var texts: [String: [String]] = [:]

    subscript(path: String) -> [String] { texts[path] ?? [] }

    init(_ bytes: [UInt8]) {
        guard !bytes.isEmpty, let parser = XML_ParserCreate(nil) else { return }
        defer { XML_ParserFree(parser) }
        let reader = Reader()
        XML_SetUserData(parser, Unmanaged.passUnretained(reader).toOpaque())
        XML_SetElementHandler(
            parser,
            { context, name, _ in Reader.at(context).begin(name.map { String(cString: $0) } ?? "") },
            { context, _ in Reader.at(context).end() })
        XML_SetCharacterDataHandler(parser) { context, text, count in
            let bytes = UnsafeRawBufferPointer(start: text, count: Int(count))
            Reader.at(context).text += bytes
        }
        let status = bytes.withUnsafeBytes {
            XML_Parse(parser, $0.baseAddress?.assumingMemoryBound(to: CChar.self), Int32($0.count), 1)
        }
        if status == XML_STATUS_OK { (root, texts) = (reader.root, reader.texts) }
    }

    private final class Reader {
        var texts: [String: [String]] = [:]
        var text: [UInt8] = []
        var root: String?
        private var path: [String] = []
        private var isLeaf = false

        static func at(_ context: UnsafeMutableRawPointer?) -> Reader {
            Unmanaged<Reader>.fromOpaque(context!).takeUnretainedValue()
        }

        func begin(_ name: String) {
            let name = name.split(separator: ":").last.map(String.init) ?? name
            root = root ?? name
            path.append(name)
            (text, isLeaf) = ([], true)
        }

        func end() {
            if isLeaf {
                texts[path.dropFirst().joined(separator: "/"), default: []].append(
                    String(decoding: text, as: UTF8.self))
            }
            path.removeLast()
            isLeaf = false
        }
    }
}
