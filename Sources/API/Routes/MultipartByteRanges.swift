import Dispatch
import Foundation
import HTTPServer

/// Several ranges of one file in one body (`multipart/byteranges`, RFC 9110, section 14.6).
struct MultipartByteRanges: Sendable {
    private let ranges: [ClosedRange<Int64>]
    private let heads: [[UInt8]]
    private let end: [UInt8]
    /// The content type of the response.
    let contentType: String

    /// - Parameters:
    ///   - size: size of the whole file in bytes.
    ///   - type: the media type of the file.
    init(_ ranges: [ClosedRange<Int64>], of size: Int64, type: String) {
        // The boundary is random, so that the file does not contain it.
        let boundary = "fetchd-" + UUID().uuidString
        self.ranges = ranges
        heads = ranges.map { range in
            Array(
                """
                \r\n--\(boundary)\r
                Content-Type: \(type)\r
                Content-Range: bytes \(range.lowerBound)-\(range.upperBound)/\(size)\r
                \r\n
                """.utf8)
        }
        end = Array("\r\n--\(boundary)--\r\n".utf8)
        contentType = "multipart/byteranges; boundary=\(boundary)"
    }

    private var length: Int64 {
        Int64(heads.reduce(0) { $0 + $1.count } + end.count) + ranges.reduce(0) { $0 + Int64($1.count) }
    }

    /// The body. The file is read at the speed of the client. If the file is truncated meanwhile, the response ends
    /// early, and the client detects the missing bytes.
    func stream(from descriptor: Int32) -> ResponseStream {
        let stream = ResponseStream(length: length, bufferLimit: Int(Self.pieceBytes))
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        Task {
            // If the body ends before its announced length, the server closes the connection, and the client detects
            // the error.
            defer { stream.finish() }
            for (head, range) in zip(heads, ranges) {
                guard await send(head, to: stream), await send(range, of: file, to: stream) else { return }
            }
            _ = await send(end, to: stream)
        }
        return stream
    }

    private func send(_ bytes: [UInt8], to stream: ResponseStream) async -> Bool {
        guard await stream.room(for: bytes.count) else { return false }
        return stream.write(bytes)
    }

    private func send(_ range: ClosedRange<Int64>, of file: FileHandle, to stream: ResponseStream) async -> Bool {
        var position = range.lowerBound
        while position <= range.upperBound {
            let count = Int(min(Self.pieceBytes, range.upperBound - position + 1))
            guard let bytes = await Self.read(count, at: position, of: file), await send(bytes, to: stream) else {
                return false
            }
            position += Int64(count)
        }
        return true
    }

    /// One piece waits for the client, and another one for its place.
    private static let pieceBytes: Int64 = 32 << 10
    private static let disk = DispatchQueue(label: "ranges", attributes: .concurrent)

    /// Reads on a separate queue, so that a slow disk does not block the threads of Swift tasks.
    private static func read(_ count: Int, at position: Int64, of file: FileHandle) async -> [UInt8]? {
        await withCheckedContinuation { continuation in
            disk.async {
                try? file.seek(toOffset: UInt64(position))
                let bytes = try? file.read(upToCount: count)
                continuation.resume(returning: bytes.flatMap { $0.count == count ? Array($0) : nil })
            }
        }
    }
}
