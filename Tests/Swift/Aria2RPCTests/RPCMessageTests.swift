import Formats
import Foundation
import Testing

@testable import Aria2RPC

@Suite struct RPCMessageTests {
    /// The calls within `system.multicall` count, too, wherever they are.
    @Test(arguments: [([1_000], false), ([1_001], true), ([600, 400], false), ([600, 401], true), ([0, 999], false)])
    func hasALargestNumberOfCalls(_ counts: [Int], _ isTooLarge: Bool) {
        let multicalls = counts.map { count in
            let calls = [JSON](repeating: ["methodName": "aria2.tellActive"], count: count)
            return JSON.object(["id": 1, "method": "system.multicall", "params": [.array(calls)]])
        }
        #expect(RPCMessage(JSON.array(multicalls).bytes).isTooLarge == isTooLarge)
        let plain = [JSON](repeating: ["id": 1, "method": "aria2.tellActive"], count: counts.reduce(0, +))
        #expect(RPCMessage(JSON.array(plain).bytes).isTooLarge == (plain.count > 1_000))
    }

    @Test(arguments: ["{", "5", "1.5", "nul", ""])
    func isUnreadable(_ text: String) {
        guard case .unreadable = RPCMessage(Array(text.utf8)) else {
            Issue.record("\(text) was read")
            return
        }
    }

    @Test(arguments: [
        (#"{"method": "aria2.tellActive"}"#, true), (#"{"method": "aria2.addUri"}"#, false),
        (#"{"method": "system.multicall", "params": [[{"methodName": "aria2.tellActive"}]]}"#, true),
        (#"{"method": "system.multicall", "params": [[{"methodName": "aria2.remove"}]]}"#, false),
        (#"[{"method": "aria2.getVersion"}, {"method": "aria2.pauseAll"}]"#, false), (#"{"method": "unknown"}"#, true),
        (#"{}"#, true),
    ])
    func knowsWhetherAMessageOnlyReads(_ text: String, _ onlyReads: Bool) {
        #expect(RPCMessage(Array(text.utf8)).onlyReads == onlyReads)
    }

    @Test func aQueryIsAMessage() {
        let params = Data(#"["token:s"]"#.utf8).base64EncodedString()
        guard case .single(let call) = RPCMessage(query: ["method": "aria2.getVersion", "id": "x", "params": params])
        else {
            Issue.record("no call")
            return
        }
        #expect(call == ["method": "aria2.getVersion", "id": "x", "params": ["token:s"]])
        guard case .batch(let calls) = RPCMessage(query: ["params": Data("[{}, 5]".utf8).base64EncodedString()]) else {
            Issue.record("no batch")
            return
        }
        #expect(calls == [[:]])
    }

    /// As in aria2, which answers such a request like one without parameters.
    @Test(arguments: [
        ["method": "m", "params": "!"], ["method": "m", "params": "e30="], ["params": "!"], ["params": "NQ=="], [:],
    ])
    func aQueryThatCannotBeReadIsNoCall(_ query: [String: String]) {
        guard case .single(let call) = RPCMessage(query: query) else {
            Issue.record("no call")
            return
        }
        #expect((try? RPCCall(call)) == nil)
    }

    @Test func aPlusInAQueryMayBeUnescaped() {
        let params = Data(#"["~~>"]"#.utf8).base64EncodedString()
        #expect(params.contains("+"))
        guard case .single(let call) = RPCMessage(query: ["method": "m", "params": params.replacing("+", with: " ")])
        else {
            Issue.record("no call")
            return
        }
        #expect(call.objectValue?["params"] == ["~~>"])
    }
}

extension RPCMessage {
    fileprivate var isTooLarge: Bool { if case .tooLarge = self { true } else { false } }
}
