import CurlClient
import Downloads
import Foundation

/// What an attempt asks for: everything, or what is missing behind the bytes had so far.
struct RequestPlan {
    var asked: RequestedRange
    /// The promised part that a continued response is appended to.
    var continued: (part: Part, file: Descriptor)?

    /// Bytes are only ever continued under a strong validator, and only where they really are on disk.
    init(for part: Part?, in folder: DownloadsFolder) {
        guard let part, part.bytesDurable > 0 else {
            asked = .whole
            return
        }
        guard part.validators.strong != nil else {
            asked = Self.fromStart(.noValidator)
            return
        }
        do throws(DownloadsFolder.PartLoss) {
            let file = try folder.openPart(part)
            continued = (part, file)
            asked = RequestedRange(offset: part.bytesDurable, validators: part.validators, size: part.size)
        } catch {
            switch error {
            case .missing: asked = Self.fromStart(.partMissing)
            case .shorterThanRecorded: asked = Self.fromStart(.partShorterThanRecorded)
            }
        }
    }

    static func fromStart(_ why: ResumeOutcome.RestartReason) -> RequestedRange {
        RequestedRange(offset: 0, restart: why)
    }

    /// - Parameter origin: where the job's own headers are meant for; another origin does not get to see them.
    static func request(
        _ url: String, _ asked: RequestedRange, _ spec: ResolvedSpec, meantFor origin: String
    ) -> TransferRequest {
        let isHome = URLRule.hostAndPort(of: url) == URLRule.hostAndPort(of: origin) && scheme(url) == scheme(origin)
        var headers = isHome ? spec.headers.map { (name: $0.name, value: $0.value) } : []
        if asked.offset > 0, let validator = asked.validators.strong { headers.append(("If-Range", validator)) }
        return TransferRequest(
            url: url, headers: headers, rangeStart: asked.offset > 0 ? asked.offset : nil, userAgent: spec.userAgent,
            timeouts: .init(connect: .seconds(spec.connectSeconds), idle: .seconds(spec.requestSeconds)))
    }

    private static func scheme(_ url: String) -> Substring { url.prefix { $0 != ":" } }
}
