import Base
import Formats
import Lists

/// The bytes of a session file, decompressed if its name ends in `.gz`, as aria2 does it.
enum Aria2SessionFile {
    /// Bytes of text. A session of a million downloads has less.
    static let limit = 256 << 20

    static func text(of file: String) throws(ClientError) -> String {
        let bytes = try InputFile.bytes(of: file)
        let text = file.hasSuffix(".gz") ? try inflated(bytes, of: file) : bytes
        guard text.count <= limit else {
            throw .unreadable(Printable(file).description, "it has more than \(limit >> 20) MiB of text")
        }
        return String(decoding: text, as: UTF8.self)
    }

    private static func inflated(_ bytes: [UInt8], of file: String) throws(ClientError) -> [UInt8] {
        let decoder = InflatingDecoder(.gzip)
        var text: [UInt8] = []
        let result = bytes.withUnsafeBytes { bytes in
            Result { () throws(InflationError) in
                try decoder.decode(bytes) { piece in
                    text += piece
                    return text.count <= limit
                }
                if text.count <= limit { try decoder.finish() }
            }
        }
        if case .failure = result {
            throw .unreadable(Printable(file).description, "it is not in gzip format, or its end is missing")
        }
        return text
    }
}
