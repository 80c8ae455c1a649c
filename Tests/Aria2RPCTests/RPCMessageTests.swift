import Formats
import Foundation
import Testing

@testable import Aria2RPC

@Suite struct RPCMessageTests {
    @Test func aPageCountsFromEitherEnd() {
        let list = [1, 2, 3, 4, 5]
        #expect(list.page(offset: 0, count: 2) == [1, 2])
        #expect(list.page(offset: 3, count: 10) == [4, 5])
        #expect(list.page(offset: 5, count: 1) == [])
        #expect(list.page(offset: -1, count: 2) == [5, 4])
        #expect(list.page(offset: -2, count: 1000) == [4, 3, 2, 1])
        #expect(list.page(offset: -6, count: 1) == [])
        #expect(list.page(offset: 0, count: -1) == [])
        #expect([Int]().page(offset: -1, count: 1) == [])
        #expect(list.page(offset: .max, count: .max) == [] && list.page(offset: .min, count: .max) == [])
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
