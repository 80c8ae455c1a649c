import Downloads
import Foundation

/// The position of the next page of a list, as text that is opaque to clients.
enum Cursor {
    static func text(_ position: String) -> String {
        Data(position.utf8).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing(
            "=", with: "")
    }

    static func position(_ text: String) throws(Problem) -> String {
        let base64 = text.replacing("-", with: "+").replacing("_", with: "/")
        let padded = base64 + String(repeating: "=", count: (4 - base64.count % 4) % 4)
        guard let data = Data(base64Encoded: padded), let position = String(data: data, encoding: .utf8) else {
            throw unknown
        }
        return position
    }

    static let unknown = Problem(
        .invalidValue, "The parameter cursor does not come from this list. Omit it to read the first page.")
}
