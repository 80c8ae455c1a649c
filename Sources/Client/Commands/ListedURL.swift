import Foundation

/// A URL of a command line or of a file, with its place in the file.
struct ListedURL: Sendable, Equatable {
    var text: String
    /// Such as `urls.txt, line 5`.
    var place: String?
}
