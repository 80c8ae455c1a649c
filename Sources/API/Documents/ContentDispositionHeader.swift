import Formats
import Foundation

enum ContentDispositionHeader {
    /// The field value that names the file for all clients (RFC 6266): in ASCII for old clients, in UTF-8 (RFC 8187)
    /// for others.
    static func attachment(_ path: String) -> String {
        let name = PathComponents.last(of: path).name
        let ascii = String(name.map { $0.isASCII && !"\"\\%".contains($0) ? $0 : "_" })
        let encoded = name.addingPercentEncoding(withAllowedCharacters: .alphanumerics.intersection(asciiOnly)) ?? ""
        return "attachment; filename=\"\(ascii)\"; filename*=UTF-8''\(encoded)"
    }

    private static let asciiOnly = CharacterSet(charactersIn: Unicode.Scalar(0x21)...Unicode.Scalar(0x7E))
}
