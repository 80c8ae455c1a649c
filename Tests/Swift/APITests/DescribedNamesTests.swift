import Configuration
import Downloads
import Foundation
import HTTPSemantics
import Logging
import Storage
import TestKit
import Testing

@testable import API

/// openapi.yaml and docs/api.md list exactly the values of the code's enumerations.
@Suite struct DescribedNamesTests {
    private let description: String
    private let page: String

    init() throws {
        description = try String(contentsOfFile: Project.path("openapi.yaml"), encoding: .utf8)
        page = try String(contentsOfFile: Project.path("docs/api.md"), encoding: .utf8)
    }

    /// The values, by the names of their schemas.
    private static let enumerations: [String: [String]] = [
        "AcknowledgementRule": names(Acknowledgement.self),
        "AuditOutcome": names(AuditEntry.Outcome.self),
        "BatchOutcome": names(Batch.Outcome.self),
        "ChecksumAlgorithm": names(Checksum.Algorithm.self),
        "ConflictRule": names(Destination.Conflict.self),
        "Staging": names(Destination.Staging.self),
        "DeliveryState": names(Delivery.State.Kind.self),
        "Digest": names(Digest.self),
        "DigestSource": names(DigestClaim.Claimant.self).filter { $0 != "checksum file" }
            .map { $0 == "job" ? "checksum" : $0 },
        "EventPattern": ["job.*", "session.*", "webhook.*"] + names(EventType.self),
        "EventType": names(EventType.self),
        "FailureCode": names(Failure.Code.self),
        "JobPhase": names(LiveProgress.Phase.self),
        "JobState": names(JobState.Kind.self),
        "MirrorPolicy": names(MirrorPolicy.self),
        "Method": names(RequestMethod.self),
        "NodeState": names(NodeStatus.State.self),
        "Priority": names(Priority.self),
        "QueueBlocker": names(QueueEntry.Blocker.self),
        "RestartReason": names(ResumeOutcome.RestartReason.self),
        "ResumeProof": names(Receipt.ResumeProof.self),
        "ResumePolicy": names(ResumePolicy.self),
        "Scope": names(Scope.self),
        "SettingSource": names(SettingSource.self),
        "LogLevel": names(Logger.Level.self),
        "SignatureType": names(ChecksumSignature.Kind.self),
        "SessionState": names(SessionStatus.State.self),
        "WaitFor": names(WaitFor.self),
        "WaitReason": names(Wait.Kind.self),
        "WebhookState": names(Webhook.State.Kind.self),
        "WebhookFormat": names(WebhookFormat.self),
        "WebhookSignatureScheme": names(WebhookSignatureScheme.self),
        "WebhookReach": names(WebhookReach.self),
    ]

    private static func names<Value: RawRepresentable<String> & CaseIterable>(_ type: Value.Type) -> [String] {
        type.allCases.map(\.rawValue)
    }

    @Test(arguments: enumerations.keys.sorted())
    func descriptionListsValuesOfCode(_ name: String) throws {
        #expect(try values(of: name).sorted() == Self.enumerations[name]?.sorted())
    }

    /// Every value is explained; event patterns are explained by their event types.
    @Test func descriptionExplainsEveryValue() throws {
        for name in try enumerationNames() where name != "EventPattern" {
            let explained = try schema(name).matches(of: /`([^`]+)`/).map { String($0.1) }
            for value in try values(of: name) { #expect(explained.contains(value), "\(name): \(value)") }
        }
    }

    @Test func apiPageListsEveryEnumeration() throws {
        for name in try enumerationNames() where name != "EventPattern" {
            let row = try #require(page.firstMatch(of: try Regex("\n\\| `\(name)` \\|([^|]*)\\|"))?.output[1].substring)
            #expect(row.matches(of: /`([^`]+)`/).map { String($0.1) } == (try values(of: name)), "\(name)")
        }
    }

    @Test func describesEveryProblemKindWithStatus() throws {
        let described = Set(description.matches(of: /\/problems\/([a-z-]+)/).map { String($0.1) })
        #expect(described == Set(Problem.Kind.allCases.map(\.rawValue)))
        for kind in Problem.Kind.allCases {
            #expect(page.contains("\n| `/problems/\(kind.rawValue)` | \(kind.status.code) |"), "\(kind)")
        }
    }

    // MARK: Parsing the description

    /// The schemas that consist of an enumeration only.
    private func enumerationNames() throws -> [String] {
        let schemas = try #require(description.firstRange(of: "\n  schemas:\n"))
        let names = description[schemas.upperBound...].matches(of: /\n    ([A-Z][A-Za-z]+):\n/)
        let found = try names.map { String($0.1) }.filter { try schema($0).contains("\n      enum:") }
        try #require(found.count >= Self.enumerations.count)
        return found
    }

    private func schema(_ name: String) throws -> Substring {
        let schemas = try #require(description.firstRange(of: "\n  schemas:\n"))
        let start = try #require(description[schemas.upperBound...].firstRange(of: "\n    \(name):\n"), "no \(name)")
        let rest = description[start.upperBound...]
        return rest[..<(rest.firstMatch(of: /\n {0,4}[A-Za-z]/)?.range.lowerBound ?? rest.endIndex)]
    }

    private func values(of name: String) throws -> [String] {
        let schema = try schema(name)
        let list = schema[try #require(schema.firstRange(of: "\n      enum:"), "\(name) has no enum").upperBound...]
        if list.hasPrefix(" [") {
            return list.dropFirst(2).prefix { $0 != "]" }.split(separator: ", ").map(String.init)
        }
        return list.matches(of: /\n        - (\S+)/).map { String($0.1) }
    }
}
