/// Name lookups of the loop.
///
/// libcurl itself would use a thread for each transfer: five hundred threads for one name that five hundred transfers
/// need. It would start one more for each later attempt, because a lookup continues after all transfers have given up.
/// So the loop looks the names up by the rules of `DNSCache`, and passes the addresses to libcurl.
extension TransferLoop {
    func find(_ host: NamedHost, for transfer: ActiveTransfer) {
        switch dnsCache.lookUp(host.name, for: transfer.id, at: timers.now) {
        case .found(let addresses):
            connect(transfer, to: host, addresses)
        case .pending:
            transfer.awaitAddresses(of: host)
            beginLookups()
        }
    }

    /// Continues the transfers that waited for the name.
    func completeLookup(_ name: String, _ addresses: [IPAddress]) {
        for id in dnsCache.completeLookup(name, addresses, at: timers.now) {
            guard let transfer = active[id], let host = transfer.awaitedHost else { continue }
            connect(transfer, to: host, addresses)
        }
        beginLookups()
    }

    func giveUpLookup(for transfer: ActiveTransfer) {
        guard let host = transfer.awaitedHost else { return }
        dnsCache.cancel(transfer.id, waitingFor: host.name)
    }

    private func connect(_ transfer: ActiveTransfer, to host: NamedHost, _ addresses: [IPAddress]) {
        do throws(TransferError) {
            try transfer.take(addresses, of: host)
            launch(transfer)
        } catch {
            end(transfer, .failed(error))
        }
    }

    private func beginLookups() {
        let find = services.options.findsAddresses ?? SystemResolver.addresses(of:)
        while let name = dnsCache.beginLookup() {
            guard !SystemResolver.start(name, by: find, for: services.mailbox) else { continue }
            // No thread could be started. The end of another lookup frees one. If no lookup runs, the lookup fails.
            if !dnsCache.postpone(name, at: timers.now) { services.mailbox.post(.completeLookup(name, [])) }
            return
        }
    }
}
