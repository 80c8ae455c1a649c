import Downloads
import Foundation
import TestKit
import Testing

@testable import Storage

struct NodeAdviceTests {
    private static func node(_ number: Int64, _ url: String?, isShared: Bool = false, lease: Double? = 9) -> NodeStatus
    {
        NodeStatus(
            id: "\(number)", node: Node(number: number, epoch: 1), url: url, version: "1", sharesDownloads: isShared,
            startedAt: .now, leaseSeconds: lease, isLeader: false, isDraining: false, slots: 1, running: 0)
    }

    @Test(
        arguments: [
            ([node(1, nil)], []),
            ([node(1, "http://a"), node(2, "http://b")], []),
            ([node(1, "http://a"), node(2, "http://a")], ["Node 2 has the same --node-url as this one, http://a."]),
            // It has stopped: a new node at its address takes its place.
            ([node(1, "http://a"), node(2, "http://a", lease: nil)], []),
            ([node(1, nil), node(2, "http://b")], ["This node has no --node-url"]),
            ([node(1, "http://a"), node(2, nil)], ["Node 2 has no --node-url"]),
            ([node(1, nil, isShared: true), node(2, nil, isShared: true)], []),
            ([node(1, nil), node(2, nil, lease: nil)], []),
        ] as [([NodeStatus], [String])])
    func namesWhatIsWrong(_ nodes: [NodeStatus], _ beginnings: [String]) {
        let advice = NodeStatus.advice(on: nodes, for: 1)
        #expect(advice.count == beginnings.count)
        for (sentence, beginning) in zip(advice, beginnings) { #expect(sentence.hasPrefix(beginning), "\(sentence)") }
    }
}
