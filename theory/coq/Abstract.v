(* The abstract arithmetic: vectors of any length known by their inner products.

   A term of the language below (atoms, sums, multiples, inner products, and one symmetric linear
   operator H, the loss's Hessian) is expanded by a program, until every inner product in it is one
   of atoms, <a_i, H^k a_j>.  The program is proved right once, in sexpand_ok; a proof runs it
   inside the kernel and is left with an identity of rational functions.

     vexpr, sexpr   vectors and numbers as terms; veval, seval say what they mean
     mexpr          numbers whose inner products are of atoms; meval says what they mean
     lin            a linear combination of vectors H^k a_n: a list of (coefficient, (k, n))
     known i j      the inner product of the atoms i <= j, where one is known *)

From Coq Require Import Reals Lra List ZArith.
From BatchNorm Require Import Vectors.
Import ListNotations.
Open Scope R_scope.

(* ---- terms ---- *)

Inductive vexpr : Set :=
| VA (n : nat)
| VAdd (a b : vexpr) | VSub (a b : vexpr) | VScale (s : sexpr) (a : vexpr)
| VH (a : vexpr)
with sexpr : Set :=
| SA (n : nat) | SZ (z : Z)
| SAdd (a b : sexpr) | SSub (a b : sexpr) | SMul (a b : sexpr) | SDiv (a b : sexpr)
| SNeg (a : sexpr) | SPow (a : sexpr) (n : nat)
| SDot (a b : vexpr).

Scheme vexpr_mut := Induction for vexpr Sort Prop with sexpr_mut := Induction for sexpr Sort Prop.
Combined Scheme terms_mut from vexpr_mut, sexpr_mut.

Inductive mexpr : Set :=
| MA (n : nat) | MZ (z : Z)
| MAdd (a b : mexpr) | MSub (a b : mexpr) | MMul (a b : mexpr) | MDiv (a b : mexpr)
| MNeg (a : mexpr) | MPow (a : mexpr) (n : nat)
| MDot (k i j : nat).

(* ---- the program ---- *)

Definition mmul (a b : mexpr) : mexpr :=
  match a, b with
  | MZ 1%Z, _ => b | _, MZ 1%Z => a
  | MZ 0%Z, _ => MZ 0 | _, MZ 0%Z => MZ 0
  | _, _ => MMul a b
  end.
Definition madd (a b : mexpr) : mexpr :=
  match a, b with MZ 0%Z, _ => b | _, MZ 0%Z => a | _, _ => MAdd a b end.
Definition mneg (a : mexpr) : mexpr := match a with MZ z => MZ (-z) | _ => MNeg a end.

Definition lin := list (mexpr * (nat * nat)).
Definition same (k l : nat * nat) : bool :=
  (Nat.eqb (fst k) (fst l) && Nat.eqb (snd k) (snd l))%bool.
Fixpoint insert (c : mexpr) (l : nat * nat) (x : lin) : lin :=
  match x with
  | [] => [(c, l)]
  | (d, k) :: r => if same k l then (madd d c, k) :: r else (d, k) :: insert c l r
  end.
Definition merge (x y : lin) : lin := fold_right (fun p r => insert (fst p) (snd p) r) y x.
Definition negated (x : lin) : lin := map (fun p => (mneg (fst p), snd p)) x.
Definition scaled (c : mexpr) (x : lin) : lin := map (fun p => (mmul c (fst p), snd p)) x.
Definition through_H (x : lin) : lin :=
  map (fun p => (fst p, (S (fst (snd p)), snd (snd p)))) x.

Section Expand.
Variable known : nat -> nat -> option mexpr.

Definition moment (k i j : nat) : mexpr :=
  match k, known (Nat.min i j) (Nat.max i j) with
  | O, Some e => e
  | _, _ => MDot k (Nat.min i j) (Nat.max i j)
  end.

Definition product_with (p : mexpr * (nat * nat)) (y : lin) (rest : mexpr) : mexpr :=
  fold_right (fun q r => madd (mmul (mmul (fst p) (fst q))
    (moment (fst (snd p) + fst (snd q)) (snd (snd p)) (snd (snd q)))) r) rest y.
Definition product (x y : lin) : mexpr := fold_right (fun p r => product_with p y r) (MZ 0) x.

Fixpoint vexpand (a : vexpr) : lin :=
  match a with
  | VA n => [(MZ 1, (O, n))]
  | VAdd a b => merge (vexpand a) (vexpand b)
  | VSub a b => merge (negated (vexpand b)) (vexpand a)
  | VScale s a => scaled (sexpand s) (vexpand a)
  | VH a => through_H (vexpand a)
  end
with sexpand (s : sexpr) : mexpr :=
  match s with
  | SA n => MA n | SZ z => MZ z
  | SAdd a b => madd (sexpand a) (sexpand b)
  | SSub a b => MSub (sexpand a) (sexpand b)
  | SMul a b => mmul (sexpand a) (sexpand b)
  | SDiv a b => MDiv (sexpand a) (sexpand b)
  | SNeg a => MNeg (sexpand a)
  | SPow a n => MPow (sexpand a) n
  | SDot a b => product (vexpand a) (vexpand b)
  end.

(* ---- what the terms mean ---- *)

Section Sound.
Variable m : nat.
Variables (vs : list (vec m)) (ss : list R) (H : vec m -> vec m).
Hypothesis H_add : forall a b, H (a + b)%V = (H a + H b)%V.
Hypothesis H_scale : forall s a, H (s *: a)%V = (s *: H a)%V.
Hypothesis H_sym : forall a b, dot a (H b) = dot (H a) b.

Definition atom (n : nat) : vec m := nth n vs one.
Definition snum (n : nat) : R := nth n ss 0.
Fixpoint power (k : nat) (a : vec m) : vec m := match k with O => a | S k => H (power k a) end.

Fixpoint veval (a : vexpr) : vec m :=
  match a with
  | VA n => atom n
  | VAdd a b => (veval a + veval b)%V
  | VSub a b => (veval a - veval b)%V
  | VScale s a => (seval s *: veval a)%V
  | VH a => H (veval a)
  end
with seval (s : sexpr) : R :=
  match s with
  | SA n => snum n | SZ z => IZR z
  | SAdd a b => seval a + seval b
  | SSub a b => seval a - seval b
  | SMul a b => seval a * seval b
  | SDiv a b => seval a / seval b
  | SNeg a => - seval a
  | SPow a n => seval a ^ n
  | SDot a b => dot (veval a) (veval b)
  end.

Fixpoint meval (s : mexpr) : R :=
  match s with
  | MA n => snum n | MZ z => IZR z
  | MAdd a b => meval a + meval b
  | MSub a b => meval a - meval b
  | MMul a b => meval a * meval b
  | MDiv a b => meval a / meval b
  | MNeg a => - meval a
  | MPow a n => meval a ^ n
  | MDot k i j => dot (atom i) (power k (atom j))
  end.

Hypothesis known_ok : forall i j e, known i j = Some e -> dot (atom i) (atom j) = meval e.

Fixpoint leval (x : lin) : vec m :=
  match x with
  | [] => fun _ => 0
  | (c, (k, n)) :: r => (meval c *: power k (atom n) + leval r)%V
  end.

(* ---- the program is right ---- *)

Ltac entrywise := apply vec_ext; intro; unfold vadd, vsub, vscale.

Lemma mmul_ok a b : meval (mmul a b) = meval a * meval b.
Proof.
  destruct a as [| [|[p|p|]|p] | | | | | | |]; simpl; try ring;
  destruct b as [| [|[q|q|]|q] | | | | | | |]; simpl; ring.
Qed.
Lemma madd_ok a b : meval (madd a b) = meval a + meval b.
Proof.
  destruct a as [| [|[p|p|]|p] | | | | | | |]; simpl; try ring;
  destruct b as [| [|[q|q|]|q] | | | | | | |]; simpl; ring.
Qed.
Lemma mneg_ok a : meval (mneg a) = - meval a.
Proof. destruct a; simpl; try reflexivity. now rewrite opp_IZR. Qed.

Lemma insert_ok c k n x :
  leval (insert c (k, n) x) = (meval c *: power k (atom n) + leval x)%V.
Proof.
  induction x as [|[d [k' n']] r IH]; [reflexivity|]; simpl; unfold same; simpl.
  destruct (Nat.eqb_spec k' k); simpl; [destruct (Nat.eqb_spec n' n); simpl|];
    try subst; try rewrite IH; try rewrite madd_ok; entrywise; ring.
Qed.

Lemma merge_ok x y : leval (merge x y) = (leval x + leval y)%V.
Proof.
  induction x as [|[c [k n]] r IH]; simpl.
  - entrywise; ring.
  - rewrite insert_ok; change (fold_right _ y r) with (merge r y); rewrite IH.
    entrywise; ring.
Qed.

Lemma negated_ok x : leval (negated x) = (-1 *: leval x)%V.
Proof.
  induction x as [|[c [k n]] r IH]; simpl; [|rewrite IH, mneg_ok]; entrywise; ring.
Qed.

Lemma scaled_ok c x : leval (scaled c x) = (meval c *: leval x)%V.
Proof.
  induction x as [|[d [k n]] r IH]; simpl; [|rewrite IH, mmul_ok]; entrywise; ring.
Qed.

Lemma through_H_ok x : leval (through_H x) = H (leval x).
Proof.
  induction x as [|[c [k n]] r IH]; simpl; [|now rewrite H_add, H_scale, IH].
  transitivity (H (0 *: one)%V); [rewrite H_scale | f_equal]; entrywise; ring.
Qed.

Lemma power_sym k a b : dot a (power k b) = dot (power k a) b.
Proof.
  revert a; induction k as [|k IH]; [reflexivity|]; intro a; simpl.
  rewrite H_sym, IH; f_equal. clear - H. induction k; simpl; congruence.
Qed.

Lemma power_add k l a : power k (power l a) = power (k + l) a.
Proof. induction k; simpl; congruence. Qed.

Lemma moment_ok k l i j : meval (moment (k + l) i j) = dot (power k (atom i)) (power l (atom j)).
Proof.
  rewrite <- power_sym, power_add. remember (k + l)%nat as n eqn:E; clear E k l.
  assert (S : dot (atom (Nat.min i j)) (power n (atom (Nat.max i j)))
            = dot (atom i) (power n (atom j))).
  { destruct (Nat.le_ge_cases i j) as [O|O].
    - now rewrite Nat.min_l, Nat.max_r.
    - rewrite Nat.min_r, Nat.max_l by assumption. now rewrite power_sym, dot_comm. }
  rewrite <- S; unfold moment. destruct n; simpl; [|reflexivity].
  destruct (known _ _) eqn:K; simpl; [|reflexivity]. symmetry; now apply known_ok.
Qed.

Lemma product_with_ok c k n y rest :
  meval (product_with (c, (k, n)) y rest) = meval c * dot (power k (atom n)) (leval y) + meval rest.
Proof.
  induction y as [|[d [l o]] s IH]; simpl.
  - rewrite dot_comm, dot_zero_l; ring.
  - change (fold_right _ rest s) with (product_with (c, (k, n)) s rest).
    rewrite madd_ok, IH, !mmul_ok, moment_ok, dot_vadd_r, dot_vscale_r; ring.
Qed.

Lemma product_ok x y : meval (product x y) = dot (leval x) (leval y).
Proof.
  induction x as [|[c [k n]] r IH]; simpl; [now rewrite dot_zero_l|].
  change (fold_right _ (MZ 0) r) with (product r y).
  now rewrite product_with_ok, IH, dot_vadd_l, dot_vscale_l.
Qed.

Lemma expand_ok :
  (forall a, leval (vexpand a) = veval a) /\ (forall s, meval (sexpand s) = seval s).
Proof.
  apply terms_mut; simpl; intros; try reflexivity.
  - entrywise; ring.
  - now rewrite merge_ok, H0, H1.
  - rewrite merge_ok, negated_ok, H0, H1. entrywise; ring.
  - now rewrite scaled_ok, H0, H1.
  - now rewrite through_H_ok, H0.
  - now rewrite madd_ok, H0, H1.
  - now rewrite H0, H1.
  - now rewrite mmul_ok, H0, H1.
  - now rewrite H0, H1.
  - now rewrite H0.
  - now rewrite H0.
  - now rewrite product_ok, H0, H1.
Qed.

Lemma sexpand_ok s : seval s = meval (sexpand s).
Proof. exact (eq_sym (proj2 expand_ok s)). Qed.
End Sound.
End Expand.

Theorem expansion_is_right (known : nat -> nat -> option mexpr) (m : nat) (vs : list (vec m))
    (ss : list R) (H : vec m -> vec m) (s : sexpr) :
  (forall a b, H (a + b)%V = (H a + H b)%V) -> (forall s a, H (s *: a)%V = (s *: H a)%V) ->
  (forall a b, dot a (H b) = dot (H a) b) ->
  (forall i j e, known i j = Some e -> dot (atom m vs i) (atom m vs j) = meval m vs ss H e) ->
  seval m vs ss H s = meval m vs ss H (sexpand known s).
Proof. intros; now apply sexpand_ok. Qed.
