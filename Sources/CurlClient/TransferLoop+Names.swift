/// How a host's name becomes what libcurl connects to.
///
/// libcurl would look names up itself, with a thread for each transfer: five hundred for one name that five hundred
/// transfers ask for, and one more for each of their attempts, as a lookup goes on when nobody waits for it any longer.
/// So they are looked up here, by `AddressBook`'s rules, and libcurl is told what was found.
extension TransferLoop {
    func find(_ host: NamedHost, for transfer: ActiveTransfer) {
        switch addressBook.ask(for: host.name, by: transfer.id, at: agenda.now) {
        case .found(let addresses):
            connect(transfer, to: host, addresses)
        case .awaited:
            transfer.awaitAddresses(of: host)
            beginLookups()
        }
    }

    /// A lookup has ended.
    func settle(_ name: String, _ addresses: [IPAddress]) {
        for id in addressBook.settle(name, addresses, at: agenda.now) {
            guard let transfer = active[id], let host = transfer.awaitedHost else { continue }
            connect(transfer, to: host, addresses)
        }
        beginLookups()
    }

    func giveUpLookup(for transfer: ActiveTransfer) {
        guard let host = transfer.awaitedHost else { return }
        addressBook.forget(transfer.id, waitingFor: host.name)
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
        let find = services.options.findsAddresses ?? NameLookup.addresses(of:)
        while let name = addressBook.beginLookup() {
            guard !NameLookup.start(name, by: find, for: services.mailbox) else { continue }
            // No thread is left. The end of another lookup gives one back; if there is none, nothing here will.
            if !addressBook.postpone(name, at: agenda.now) { services.mailbox.post(.settle(name, [])) }
            return
        }
    }
}
