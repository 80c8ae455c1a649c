import Foundation
import TestKit

/// What a file holds at its origin for a while, and what it is known by meanwhile.
struct FileVersion: Sendable {
    /// Where its bytes begin in the pool.
    var place: Int
    var size: Int
    var etag: String?
    var lastModified: String?
    /// The answer's own `Date`: by it a modification date is strong or weak (RFC 9110, section 8.8.2.2).
    var date: String?

    static let largest = 3 << 20

    /// All versions are stretches of these bytes, none of which is like another.
    private static let pool = Content.random(seed: 20_190_819, count: 2 * largest)

    static func bytes(at place: Int, count: Int) -> [UInt8] { Array(pool[place..<place + count]) }

    var bytes: [UInt8] { Self.bytes(at: place, count: size) }
}

/// How versions are told apart.
enum Validation: String, CaseIterable, Sendable {
    case strongTag, tagAndDate, strongDate, weakTag, weakDate, oddTag, nothing

    /// Whether bytes of two responses may be put together under it.
    var isStrong: Bool {
        switch self {
        case .strongTag, .tagAndDate, .strongDate: true
        case .weakTag, .weakDate, .oddTag, .nothing: false
        }
    }

    /// - Parameters:
    ///   - name: tells the versions of all files apart.
    ///   - number: of the version, as far as the server tells: weak validators may stay as they are.
    func version(_ name: String, number: Int, place: Int, size: Int) -> FileVersion {
        var version = FileVersion(place: place, size: size)
        let modified = "Mon, 19 Aug 2019 15:2\(number % 10):14 GMT"
        switch self {
        case .strongTag: version.etag = "\"\(name)-\(number)\""
        case .tagAndDate:
            version.etag = "\"\(name)-\(number)\""
            (version.lastModified, version.date) = (modified, "Tue, 20 Aug 2019 00:00:00 GMT")
        case .strongDate: (version.lastModified, version.date) = (modified, "Tue, 20 Aug 2019 00:00:00 GMT")
        case .weakTag: version.etag = "W/\"\(name)-\(number)\""
        case .weakDate: (version.lastModified, version.date) = (modified, modified)
        case .oddTag: version.etag = "\(name)-\(number)"
        case .nothing: break
        }
        return version
    }
}
