import CurlClient
import Downloads
import Foundation
import HTTPSemantics
import Lists

/// What an attempt has discovered. An object, because few attempts have one.
final class Renewal: Sendable {
    let spec: ResolvedSpec
    let discovery: Discovery

    init(spec: ResolvedSpec, discovery: Discovery) { (self.spec, self.discovery) = (spec, discovery) }
}

/// A mirror that an attempt does not use any more.
extension Attempt {
    /// nil if there is none, which most jobs need not store.
    var droppedMirrors: [DroppedMirror]? { state.withLock { $0.dropped.isEmpty ? nil : $0.dropped } }

    /// Without digests of pieces, each mirror that has sent bytes may have sent the wrong ones.
    func suspect(_ mirrors: [String], _ mismatch: Failure) async {
        guard !mirrors.isEmpty, discovers,
            var discovery = renewed.withLock({ $0?.discovery }) ?? job.spec.discovery
        else { return }
        for url in mirrors { drop(ConnectionSource(url: url, home: url, isDiscovered: true), mismatch) }
        discovery.mirrors.removeAll(where: mirrors.contains)
        discovery.suspects = (droppedMirrors ?? []).filter { $0.code == .checksumMismatch }
        // Without the commit, the mirrors would be asked again, and be found again.
        _ = await record(discovery)
    }

    /// A discovered mirror has failed in the place of the server, and the next one follows.
    func suspect(_ failure: Failure) async {
        guard discovers, !job.spec.isGiven(job.url), var discovery = job.spec.discovery else { return }
        drop(ConnectionSource(url: job.url, home: job.url, isDiscovered: true), failure)
        // The mirror stays in the list, because the job counts in it.
        discovery.suspects.append(DroppedMirror(url: job.url, code: failure.code, message: failure.message))
        _ = await record(discovery)
    }

    /// - Returns: false if the engine stops before it is stored.
    private func record(_ discovery: Discovery) async -> Bool {
        do throws(NotStored) {
            try await services.persist("the mirrors of \(job.id)") {
                try await services.store.record(discovery, of: job)
            }
            return true
        } catch {
            return false
        }
    }

    func drop(_ source: ConnectionSource, _ failure: Failure) {
        guard source.isDiscovered else { return }
        services.log.notice(
            "\(job.id) does not use the mirror \(URLRule.redacted(source.url)): \(failure.message)", metadata: logFields
        )
        let dropped = DroppedMirror(url: source.url, code: failure.code, message: failure.message)
        state.withLock { $0.dropped.append(dropped) }
    }
}

/// What the server of a job says about mirrors, before the transfer.
extension Attempt {
    /// Discovers, and stores what is new.
    ///
    /// - Returns: false if the engine stops before it is stored.
    func discoverMirrors() async -> Bool {
        let task = Task { await discover() }
        let registration = control.register { task.cancel() }
        let found = await task.value
        control.unregister(registration)
        guard let found, found != job.spec.discovery ?? Discovery() else { return true }
        guard await record(found) else { return false }
        renewed.withLock { [admitted] in $0 = Renewal(spec: admitted.adding(found, to: job), discovery: found) }
        return true
    }

    /// Asks the server of the job for the head of its response, and reads the Metalink that the response names. A mirror is not asked
    /// for mirrors, and a Metalink not for another one, so there are no loops (RFC 6249, section 2).
    ///
    /// - Returns: nil if the server cannot be asked now, or if the attempt stops: then the last discovery holds.
    private func discover() async -> Discovery? {
        var heads: [MirrorOffer.Head] = []
        switch await fetchDocument(job.spec.url, largest: 0, onHead: { heads.append($0) }) {
        case .received, .tooLarge: break
        case .failed, .stopped, .unchanged: return nil
        }
        let offer = MirrorOffer(heads)
        var found = offer.discovery(
            adding: await description(of: offer).map { ($0.urls, $0.size, $0.checksum, $0.pieces) },
            besides: [job.spec.url] + job.spec.mirrors)
        found.suspects = job.spec.discovery?.suspects ?? []
        found.mirrors.removeAll { url in found.suspects.contains { $0.url == url } }
        return found
    }

    private func description(of offer: MirrorOffer) async -> MetalinkFile? {
        guard let url = offer.description,
            case .received(let document) = await fetchDocument(url, largest: Self.largestMetalink),
            let files = try? MetalinkFile.files(in: document.bytes)
        else { return nil }
        if files.count == 1 { return files[0] }
        // A document of several files is of use if one has the name of the job's.
        let name = job.spec.url.lastURLComponent
        let named = files.filter { $0.path?.split(separator: "/").last.map(String.init) == name }
        return named.count == 1 ? named[0] : nil
    }

    /// In bytes.
    private static let largestMetalink = 1 << 20
}
