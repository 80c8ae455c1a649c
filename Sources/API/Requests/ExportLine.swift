import Downloads
import Formats
import Foundation
import HTTPSemantics
import Storage

/// The lines of `fetchd export`: one JSON document for each session, job and webhook, with the request that creates it.
public struct ExportLine: Sendable {
    /// Whether secrets are written. Otherwise the member `missing` names them.
    private let withSecrets: Bool

    public init(withSecrets: Bool) { self.withSecrets = withSecrets }

    public func header(at now: Date) -> JSON {
        [
            "kind": "fetchd-export", "version": 1, "exported_at": .time(now), "secrets": .bool(withSecrets),
        ]
    }

    public func line(_ item: StoredQueue.Item) -> JSON {
        switch item {
        case .session(let session): line(session)
        case .job(let job): line(job)
        case .webhook(let webhook): line(webhook)
        }
    }

    private func line(_ session: Session) -> JSON {
        var configuration = session.configuration
        var missing = configuration.lost
        if !withSecrets {
            missing.formUnion(configuration.secrets)
            configuration.headers.removeAll(where: \.isSecret)
            configuration.proxy = configuration.proxy?.withoutCredentials
        }
        return [
            "kind": "session", "id": .string(session.id.text), "configuration": configuration.request,
            "missing": Self.names(missing),
        ]
    }

    private func line(_ job: Job) -> JSON {
        var (spec, missing) = (job.spec, job.spec.lost)
        if !withSecrets { missing.formUnion(Self.removeSecrets(from: &spec)) }
        return [
            "kind": "job", "id": .string(job.id.text), "state": .string(job.state.name.rawValue),
            "created_at": .time(job.createdAt), "request": spec.request(in: job.session),
            "missing": Self.names(missing),
        ]
    }

    /// Queries of URLs stay, as in the answers of the API: without them, most URLs are of no use.
    private static func removeSecrets(from spec: inout JobSpec) -> Set<SecretMember> {
        var removed = spec.secrets.subtracting([.url, .checksum])
        let urls = [spec.url] + spec.mirrors
        let shown = urls.map(URLRule.withoutCredentials)
        if shown != urls { removed.insert(.url) }
        (spec.url, spec.mirrors) = (shown[0], Array(shown.dropFirst()))
        spec.headers.removeAll(where: \.isSecret)
        (spec.credentials, spec.body) = (nil, nil)
        return removed
    }

    private func line(_ webhook: Webhook) -> JSON {
        var (declared, missing) = (webhook, webhook.lost)
        if !withSecrets {
            missing.insert(.secret)
            if URLRule.holdsSecret(webhook.url) { missing.insert(.url) }
            if !webhook.headers.isEmpty { missing.insert(.headers) }
            declared.url = URLRule.redacted(webhook.url)
            declared.headers = []
        }
        return [
            "kind": "webhook", "session": .string(webhook.session.text), "name": .string(webhook.name.text),
            "declaration": declared.request(withSecret: withSecrets), "missing": Self.names(missing),
        ]
    }

    private static func names(_ members: Set<SecretMember>) -> JSON {
        .strings(SecretMember.allCases.filter(members.contains).map(\.rawValue))
    }
}

extension Webhook {
    /// - Parameter withSecret: whether it has the secret that signs.
    public func request(withSecret: Bool) -> JSON {
        var object = JSONObject()
        object["url"] = .string(url)
        object["events"] = .strings(events.map(\.text))
        if !headers.isEmpty { object["headers"] = headers.request }
        if format != .standard { object["format"] = .string(format.rawValue) }
        if signatures != [.v1] { object["signature"] = .strings(signatures.map(\.rawValue)) }
        if tls != TLSRule() { object["tls"] = WireType.tls.write(tls) }
        if withSecret { object["secret"] = secret.map { .string($0.text) } }
        return .object(object)
    }
}
