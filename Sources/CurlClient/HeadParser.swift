import Formats

/// Parses the lines that libcurl reports to one final head. It is a value without a connection, so that each unusual
/// server is one test.
///
/// libcurl reports every line that it reads as a header: those of interim 1xx heads, of the final head, and of the
/// trailers after a chunked body, which must not be taken for another head.
struct HeadParser {
    private enum State {
        case beforeStatusLine
        case inFields(ResponseHead)
        /// A head has ended that another may follow. Only a status line is parsed.
        case betweenHeads
        case afterHead
    }

    private let byteLimit: Int
    private var bytes = 0
    private var state = State.beforeStatusLine

    private static let protocolName = "HTTP/".utf8

    init(byteLimit: Int) { self.byteLimit = byteLimit }

    /// Parses one line, with or without its line break.
    ///
    /// - Returns: the head that the line completes.
    mutating func feed(_ line: some BidirectionalCollection<UInt8>) throws(TransferError) -> ResponseHead? {
        bytes += line.count
        guard bytes <= byteLimit else { throw .headTooLarge }
        let text = line.trimmingLineBreak()
        switch state {
        case .beforeStatusLine:
            if !text.isEmpty { state = .inFields(try Self.parseStatusLine(text)) }
        case .betweenHeads:
            if text.starts(with: Self.protocolName) { state = .inFields(try Self.parseStatusLine(text)) }
        case .inFields(let head) where text.isEmpty: return try finish(head)
        case .inFields(var head):
            head.append(field: text)
            state = .inFields(head)
        case .afterHead: break
        }
        return nil
    }

    /// The last head may not be the final one, because libcurl sends another request.
    mutating func expectAnotherHead() { state = .betweenHeads }

    /// The last head is the final one. Further lines are trailers.
    mutating func expectNoOtherHead() { state = .afterHead }

    private mutating func finish(_ head: ResponseHead) throws(TransferError) -> ResponseHead? {
        // The request did not ask for an upgrade. The following bytes would belong to another protocol.
        guard head.status != 101 else { throw .protocolError("the server switched protocols without a request") }
        guard head.status >= 200 else {
            state = .beforeStatusLine
            return nil
        }
        state = .afterHead
        var head = head
        head.contentLength = try head.framedLength()
        return head
    }

    /// `HTTP/1.1 200 OK`; the reason is optional.
    private static func parseStatusLine(
        _ line: some BidirectionalCollection<UInt8>
    ) throws(TransferError) -> ResponseHead {
        let words = line.split(separator: UInt8(ascii: " "), maxSplits: 2)
        guard words.count >= 2, words[0].starts(with: protocolName), words[1].count == 3,
            let status = Int(String(decoding: words[1], as: UTF8.self)), (100..<1000).contains(status)
        else { throw .protocolError("the status line cannot be read") }
        return ResponseHead(status: status, httpVersion: String(decoding: words[0], as: UTF8.self))
    }
}

extension ResponseHead {
    fileprivate mutating func append(field line: some BidirectionalCollection<UInt8>) {
        // A folded line continues the value of the line before. It is obsolete, but servers still send it.
        if line.first?.isHTTPSpace == true, let last = headers.indices.last {
            headers[last].value += " " + String(fieldValue: line)
            return
        }
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { return }
        let name = String(decoding: line[..<colon], as: UTF8.self)
        headers.append((name, String(fieldValue: line[line.index(after: colon)...])))
    }

    /// The length of `Content-Length`, which libcurl also uses.
    ///
    /// Different lengths are refused (RFC 9110), because another reader could use another length and see another body.
    fileprivate func framedLength() throws(TransferError) -> Int64? {
        let codings = values(of: "Transfer-Encoding")
        guard codings.isEmpty else {
            // libcurl would decompress gzip here, and deliver other bytes than the requested ones.
            guard codings.allSatisfy({ $0.equalsIgnoringASCIICase("chunked") }) else {
                throw .protocolError("an unsupported transfer coding")
            }
            return nil
        }
        // A list in one field means the same as several fields (RFC 9110, 5.3).
        let texts = values(of: "Content-Length").flatMap { $0.split(separator: ",", omittingEmptySubsequences: false) }
        let lengths = try texts.map { (text) throws(TransferError) in try Self.parseLength(text) }
        guard Set(lengths).count <= 1 else { throw .protocolError("two lengths that differ") }
        return lengths.first
    }

    private static func parseLength(_ text: Substring) throws(TransferError) -> Int64 {
        let trimmed = text.drop(while: \.isHTTPSpace).prefix { !$0.isHTTPSpace }
        guard trimmed.utf8.allSatisfy(\.isASCIIDigit), let length = Int64(trimmed)
        else { throw .protocolError("Content-Length is not a number") }
        return length
    }
}

extension String {
    fileprivate init(fieldValue bytes: some BidirectionalCollection<UInt8>) {
        let trimmed = bytes.trimming(\.isHTTPSpace)
        self = String(validating: trimmed, as: UTF8.self) ?? String(latin1: trimmed)
    }
}

extension BidirectionalCollection<UInt8> {
    fileprivate func trimmingLineBreak() -> SubSequence {
        let last = lastIndex { $0 != UInt8(ascii: "\r") && $0 != UInt8(ascii: "\n") }
        return last.map { self[...$0] } ?? prefix(0)
    }
}
