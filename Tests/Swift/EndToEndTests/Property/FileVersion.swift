import Foundation
import TestKit

/// The content of a file at its origin for some time, and its validators.
struct FileVersion: Sendable {
    /// The offset of its bytes in the pool.
    var place: Int
    var size: Int
    var etag: String?
    var lastModified: String?
    /// The response's `Date`: it decides whether a modification date is strong or weak (RFC 9110, section 8.8.2.2).
    var date: String?

    static let largest = 3 << 20

    /// All versions are sections of these bytes, none of which repeat.
    private static let pool = Content.random(seed: 20_190_819, count: 2 * largest)

    static func bytes(at place: Int, count: Int) -> [UInt8] { Array(pool[place..<place + count]) }

    var bytes: [UInt8] { Self.bytes(at: place, count: size) }
}

/// The validators by which versions differ.
enum Validation: String, CaseIterable, Sendable {
    case strongTag, tagAndDate, strongDate, weakTag, weakDate, oddTag, nothing

    /// Whether bytes of two responses may be combined under it.
    var isStrong: Bool {
        switch self {
        case .strongTag, .tagAndDate, .strongDate: true
        case .weakTag, .weakDate, .oddTag, .nothing: false
        }
    }

    /// - Parameters:
    ///   - name: unique among all files.
    ///   - number: the version's number in its validators; weak validators may stay the same.
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
